// The conditions of a query by the relations they are on, before it is known what runs before what: how many rows each
// leaves at most, exactly where these are few.
import { intersectLists } from '../bits/lists.ts';
import { codesLinkingTo, joinSteps } from '../index/join.ts';
import { countRows, eachRow, listed, type RowSet } from '../index/rowset.ts';
import type { Counting } from '../index/mostRows.ts';
import { parentsOf, type CollectionIndex } from '../index/table.ts';
import { sizedCondition, type ConditionStep, type SizedCondition, type Sizing } from './conditionStep.ts';
import { newCounters } from './counters.ts';
import { holdsForNulls, type NullStep } from './nulls.ts';
import type { Condition } from '../query/ask.ts';
import { locateField, type LinkStep, type LocatedField, type ManyStep } from '../query/path.ts';
import { rowsOfCodes, rowsOfCodeSet } from './postings.ts';

/**
 * What a query is planned on: its collection, how own URLs are served, what decides the order of steps, and what may be
 * looked at for it.
 */
export interface DraftContext extends Sizing {
  readonly collection: CollectionIndex;
  readonly arrange: Arrange;
}

/** A condition with the relations that lie between the table at hand and its field. */
export interface PlacedCondition {
  readonly condition: Condition;
  readonly located: LocatedField;
  readonly steps: readonly (ManyStep | LinkStep)[];
}

/**
 * The conditions on one relation: what they find if all of its rows are asked. Each is drafted once and settled once,
 * so that a key of many steps costs no more than its steps. `step` is undefined at the root. `rows` is how many rows
 * the relation has, `estimate` at most how many of them match all steps, `reach` at most how many rows around have such
 * a related row. `cost` is about nanoseconds.
 */
export interface Draft {
  readonly kind: 'draft';
  readonly step: ManyStep | LinkStep | undefined;
  readonly steps: readonly (ConditionStep | Draft)[];
  readonly rows: number;
  readonly estimate: number;
  readonly reach: number;
  readonly scanBytes: number;
  readonly cost: number;
}

/** Puts steps on one table of so many rows into the order in which they run. */
export type Arrange = (steps: readonly (ConditionStep | Draft)[], rows: number) => readonly (ConditionStep | Draft)[];

/** Rows that are put together are written, sorted or marked; those of a posting list lie ready. */
const ROW_COST = 4;
const VIEW_ROW_COST = 1;
const JOIN_STEP_COST = 2;

/** A search leaves about this part of what it may leave: most are for something rare. */
const SEARCH_PART = 1 / 8;

/** Bounds say little of what relations drop: at least this part is taken to be. */
const DROPPED_PART_MIN = 1 / 8;

/**
 * Rows that are looked up while planning, of each condition and relation: some 5 us, for bounds that are exact where
 * most queries through links begin.
 */
const FEW_ROWS_MAX = 64;

/** Where a condition stands in a collection. Cost: the names of its path. */
export function placed(collection: CollectionIndex, condition: Condition): PlacedCondition {
  const located = locateField(collection, condition.path);
  return { condition, located, steps: located.steps };
}

/**
 * The steps by what each costs for every row that it is likely to drop, which is best where they are independent
 * (Hellerstein and Stonebraker 1993, 4); of equal ones those that leave the fewest rows first. `rows` is how many the
 * table has.
 */
export function cheapestFirst(
  steps: readonly (ConditionStep | Draft)[],
  rows: number,
): readonly (ConditionStep | Draft)[] {
  if (steps.length < 2) return steps;
  const ranked = steps.map((step) => ({ step, rank: rankOf(step, rows) }));
  return ranked.sort((a, b) => a.rank - b.rank || reachOf(a.step) - reachOf(b.step)).map(({ step }) => step);
}

function rankOf(step: ConditionStep | Draft, rows: number): number {
  const left = Math.min(1, reachOf(step) / Math.max(1, rows));
  const kept = step.scanBytes > 0 ? left * SEARCH_PART : left;
  return costOf(step) / Math.max(DROPPED_PART_MIN, 1 - kept);
}

/** What a step costs if nothing runs before it, in about nanoseconds. */
function costOf(step: ConditionStep | Draft): number {
  if (step.kind === 'draft') return step.cost;
  return step.scanBytes + step.estimate * VIEW_ROW_COST + step.rowsGathered * ROW_COST;
}

/** What the root's draft says: its steps in their order, and at most how many records match them. */
export type RootDraft = Pick<Draft, 'steps' | 'estimate'>;

/**
 * The draft of conditions on the records of a collection. Cost: `sizedCondition` each, and a few rows each; no rows for
 * a single one on the records themselves, which most queries have.
 */
export function rootDraft(context: DraftContext, conditions: readonly PlacedCondition[]): RootDraft {
  const { rows } = context.collection;
  const [only, ...others] = conditions;
  if (!only) return { steps: [], estimate: rows };
  if (others.length > 0 || only.steps.length > 0) return draftOf(context, undefined, conditions).draft;
  const { step } = sizedCondition(only.condition, only.located.index, context);
  return { steps: [step], estimate: Math.min(rows, step.estimate) };
}

/** At most how many rows of the table at hand a step leaves. */
function reachOf(step: ConditionStep | Draft): number {
  return step.kind === 'draft' ? step.reach : step.estimate;
}

/** At most how many rows have a related row, of which at most `estimate` match. */
export function rowsReached(
  step: ManyStep | LinkStep,
  found: { readonly estimate: number; readonly steps: readonly NullStep[] },
  counting: Counting,
): number {
  if (step.kind === 'many') {
    const parents = step.table.starts!.length - 1;
    return holdsForNulls(found) ? parents : Math.min(parents, found.estimate);
  }
  const { index, link } = step;
  if (holdsForNulls(found)) return index.rows;
  return Math.min(index.countOf({ start: 0, end: index.dictionary.size }), link.mostRowsTo(found.estimate, counting));
}

/** A step, and all rows of the table at hand that it may leave, where they are few. */
interface Sized {
  readonly step: ConditionStep | Draft;
  few(): Uint32Array | undefined;
}

function draftOf(
  context: DraftContext,
  step: Draft['step'],
  conditions: readonly PlacedCondition[],
): { draft: Draft; few: Sized['few'] } {
  const own = conditions
    .filter(({ steps }) => steps.length === 0)
    .map(({ condition, located }) => sizedCondition(condition, located.index, context));
  const children = childrenOf(conditions).map((child) => draftOf(context, child.step, child.inside));
  const sized: readonly Sized[] = [
    ...own.map((one) => ({ step: one.step, few: () => fewRows(one) })),
    ...children.map(({ draft, few }) => ({ step: draft, few })),
  ];
  // A single condition on the records themselves knows its rows already.
  const few = step || sized.length > 1 ? sharedRows(sized) : undefined;
  const rows = step ? rowsBehind(step) : context.collection.rows;
  const steps = context.arrange(
    sized.map((one) => one.step),
    rows,
  );
  const estimate = Math.min(rows, ...steps.map(reachOf), few?.length ?? rows);
  const around = step && few && !holdsForNulls({ steps }) ? reachedFrom(step, few) : undefined;
  const reach = around?.count ?? (step ? rowsReached(step, { steps, estimate }, context) : estimate);
  const scanBytes = steps.reduce((sum, one) => sum + one.scanBytes, 0);
  const cost = steps.reduce((sum, one) => sum + costOf(one), joinCost(step, estimate, reach));
  return { draft: { kind: 'draft', step, steps, rows, estimate, reach, scanBytes, cost }, few: () => around?.few };
}

/** What it costs to carry `estimate` rows of a relation to the rows around. */
function joinCost(step: Draft['step'], estimate: number, reach: number): number {
  if (step?.kind !== 'link') return estimate * VIEW_ROW_COST;
  return joinSteps(step.link, estimate) * JOIN_STEP_COST + reach * ROW_COST;
}

/** How many rows a relation has. */
function rowsBehind(step: ManyStep | LinkStep): number {
  return step.kind === 'link' ? step.link.to().rows : step.table.rows;
}

function fewRows({ step, index }: SizedCondition): Uint32Array | undefined {
  if (!step.codes || step.estimate > FEW_ROWS_MAX) return undefined;
  return listed(rowsOfCodes(newCounters(), index, step.codes));
}

/** The rows that all steps may leave which know theirs; undefined where none does. */
function sharedRows(sized: readonly Sized[]): Uint32Array | undefined {
  let shared: Uint32Array | undefined;
  for (const { few } of sized) {
    const rows = few();
    if (rows) shared = shared ? intersectLists(shared, rows) : rows;
  }
  return shared;
}

/** How many rows around have one of these as related row, and which where they are few. */
function reachedFrom(step: ManyStep | LinkStep, rows: Uint32Array): { count: number; few: Uint32Array | undefined } {
  const set: RowSet = { kind: 'list', rows };
  if (step.kind === 'many') {
    const parents = listed(parentsOf(step.table, set, step.table.starts!.length - 1));
    return { count: parents.length, few: parents };
  }
  const codes = codesLinkingTo(step.index, step.link, set, false);
  let count = 0;
  if (countRows(codes) > 0) eachRow(codes, (code) => (count += step.index.countOf({ start: code, end: code + 1 })));
  const isFew = count <= FEW_ROWS_MAX;
  return { count, few: isFew ? listed(rowsOfCodeSet(newCounters(), step.index, codes)) : undefined };
}

interface Child {
  readonly step: ManyStep | LinkStep;
  readonly inside: PlacedCondition[];
}

/** Conditions on one relation share its row (A45); those on one array of scalars do not (A37). */
function childrenOf(placed: readonly PlacedCondition[]): readonly Child[] {
  const children: Child[] = [];
  const relations = new Map<string, Child>();
  for (const { condition, located, steps } of placed) {
    const step = steps[0];
    if (!step) continue;
    const name = step.path.join('__');
    const inside = { condition, located, steps: steps.slice(1) };
    const known = relations.get(name);
    if (known) known.inside.push(inside);
    else {
      const child = { step, inside: [inside] };
      children.push(child);
      if (step.kind === 'link' || step.isRelation) relations.set(name, child);
    }
  }
  return children;
}
