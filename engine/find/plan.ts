// Plans a parsed query: groups conditions by table and puts the cheapest first. A plan is plain data that can be
// printed, cloned and sent to another thread. It decides only the order of steps.
import { wordsFor } from '../bits/bitmap.ts';
import type { FieldIndex } from '../index/field.ts';
import type { CollectionIndex } from '../index/table.ts';
import type { ServedForm } from '../column/served.ts';
import type { Ask, Condition, Page } from '../query/ask.ts';
import { lookupNamed } from '../query/lookups.ts';
import { type GenericStep, locateField, type Step } from '../query/path.ts';
import { conditionStep, type ConditionStep, PLAN_VALUES_MAX, type Sizing } from './conditionStep.ts';
import { codesLinkingNs, COST, holdsForNulls, isForNulls, setNs } from './passes.ts';

/** The conditions on one relation, in the order in which they run. */
interface Related {
  /** Names from the collection to the relation; empty for the collection itself. */
  readonly path: readonly string[];
  readonly steps: readonly PlanStep[];
  /** Estimated number of parent rows that have a matching related row. */
  readonly estimate: number;
  /** Estimated nanoseconds to find all of these. */
  readonly ns: number;
}

/** Conditions that must hold for the same row of one table (A45): the collection's, or that of a to-many relation. */
export interface TableNode extends Related {
  readonly kind: 'table';
}

/** Conditions that must hold for the record of the collection `to` that a link points at. */
export interface LinkNode extends Related {
  readonly kind: 'link';
  readonly to: string;
}

/** Steps on the same rows, of which one must match, or with `isNegated` none. */
export interface AnyNode extends Related {
  readonly kind: 'any';
  readonly isNegated?: true;
  readonly steps: readonly TableNode[];
}

/** One step of a plan: a condition on the remaining rows, conditions on rows related to them, or several of these. */
export type PlanStep = ConditionStep | TableNode | LinkNode | AnyNode;

/** How to find a list, and how to show it. */
export interface Plan {
  readonly collection: string;
  readonly node: TableNode;
  /** Negated conditions: records that match any of these trees are not in the list (A46). */
  readonly excluded: readonly TableNode[];
  /** Whether the list is empty because a filter is wrong. */
  readonly isEmpty: boolean;
  readonly page: Page;
  readonly form: ServedForm;
  /** Estimated nanoseconds to find all records of the list; 0 if they are ready in the snapshot. */
  readonly ns: number;
}

/** Puts the steps on a table of this many rows into execution order. */
export type Arrange = (steps: readonly PlanStep[], rows: number) => readonly PlanStep[];

interface Context extends Sizing {
  readonly arrange: Arrange;
}

/** A condition with the relations between the current table and its field. */
interface PlacedCondition {
  readonly condition: Condition;
  readonly index: FieldIndex;
  readonly steps: readonly Step[];
}

const ROOT: readonly string[] = [];
/** Shared, so that a list without conditions allocates none. */
const NO_STEPS: readonly never[] = [];

/** Fraction of the candidates that a search is assumed to keep: most searches are for rare values. */
const SEARCH_SELECTIVITY = 1 / 8;

/** Every step is assumed to drop at least this fraction of the rows, because estimates of what it keeps are rough. */
const DROPPED_MIN = 1 / 8;

/**
 * Plans a request without problems. `arrange` decides the order of steps on one table. Cost: a binary search for each
 * value, for up to 64 values of each condition and 1,024 in all.
 */
export function plan(
  collection: CollectionIndex,
  { conditions, anyOf, isEmpty, page }: Pick<Ask, 'conditions' | 'anyOf' | 'isEmpty' | 'page'>,
  form: ServedForm,
  arrange: Arrange = cheapestFirst,
): Plan {
  const { name } = collection.declaration;
  if (conditions.length + anyOf.length === 0) {
    const node: TableNode = { kind: 'table', path: ROOT, steps: NO_STEPS, estimate: collection.rows, ns: 0 };
    return { collection: name, node, excluded: NO_STEPS, isEmpty, page, form, ns: 0 };
  }
  const context: Context = { form, arrange, valuesToFind: PLAN_VALUES_MAX };
  const { rows } = collection;
  const wanted: PlacedCondition[] = [];
  const excluded: TableNode[] = [];
  for (const condition of conditions) {
    const placed = placedIn(collection, condition);
    if (condition.isNegated) excluded.push(tableNode(context, rows, [placed]));
    else wanted.push(placed);
  }
  if (excluded.length > 1) excluded.sort((a, b) => a.ns - b.ns);
  const alternatives = anyOf.map((sets) => {
    const placed = sets.map((set) => set.map((condition) => placedIn(collection, condition)));
    return eitherNode(context, placed, rows);
  });
  const node = tableNode(context, rows, wanted, alternatives);
  const combined = Math.max(0, node.steps.length + excluded.length - 1);
  let ns = node.ns + combined * wordsFor(collection.rows) * COST.word;
  for (const tree of excluded) ns += tree.ns;
  return { collection: name, node, excluded, isEmpty, page, form, ns };
}

function placedIn(collection: CollectionIndex, condition: Condition): PlacedCondition {
  const { index, steps } = locateField(collection, condition.path);
  return { condition, index, steps };
}

/** Sets of conditions of which one must match. A relation that several single conditions begin with is crossed once. */
function eitherNode(context: Context, sets: readonly (readonly PlacedCondition[])[], rows: number): AnyNode {
  const isCrossing = ([first, ...others]: readonly PlacedCondition[]): boolean =>
    others.length === 0 && first!.steps.length > 0;
  const nodes = sets.filter((set) => !isCrossing(set)).map((set) => tableNode(context, rows, set));
  for (const relation of relationsOf(sets.filter(isCrossing).flat())) {
    nodes.push(tableNode(context, rows, NO_STEPS, [relationStep(context, relation, rows, eitherSteps)]));
  }
  return anyNode(nodes, rows);
}

function eitherSteps(context: Context, rows: number, conditions: readonly PlacedCondition[]): TableNode {
  const sets = conditions.map((condition) => [condition]);
  return tableNode(context, rows, NO_STEPS, [eitherNode(context, sets, rows)]);
}

/** With `isNegated`, none of the steps may match. */
function anyNode(steps: readonly TableNode[], rows: number, isNegated = false): AnyNode {
  let estimate = 0;
  let ns = 0;
  for (const step of steps) {
    estimate = Math.min(rows, estimate + step.estimate);
    ns += step.ns;
  }
  if (isNegated) return { kind: 'any', path: ROOT, steps, estimate: rows, ns, isNegated };
  return { kind: 'any', path: ROOT, steps, estimate, ns };
}

/** Conditions on a table of this many rows, and other steps, in execution order. */
function tableNode(
  context: Context,
  rows: number,
  conditions: readonly PlacedCondition[],
  others: readonly PlanStep[] = NO_STEPS,
): TableNode {
  const steps = [...others];
  let related: PlacedCondition[] | undefined;
  for (const placed of conditions) {
    if (placed.steps.length > 0) (related ??= []).push(placed);
    else steps.push(conditionStep(placed.condition, placed.index, context));
  }
  if (related) for (const relation of relationsOf(related)) steps.push(relationStep(context, relation, rows));
  let estimate = rows;
  let ns = 0;
  for (const step of steps) {
    estimate = Math.min(estimate, step.estimate);
    ns += step.ns;
  }
  return { kind: 'table', path: ROOT, steps: context.arrange(steps, rows), estimate, ns };
}

interface Relation {
  readonly step: Step;
  readonly conditions: PlacedCondition[];
}

/** Conditions on one relation must match the same related row (A45), those on an array of scalars need not (A37). */
function relationsOf(conditions: readonly PlacedCondition[]): readonly Relation[] {
  const relations: Relation[] = [];
  const shared = new Map<string, Relation>();
  for (const { condition, index, steps } of conditions) {
    const step = steps[0]!;
    const name = step.path.join('__');
    const inner = { condition, index, steps: step.kind === 'generic' ? steps : steps.slice(1) };
    const known = shared.get(name);
    if (known) known.conditions.push(inner);
    else {
      const relation = { step, conditions: [inner] };
      relations.push(relation);
      if (step.kind !== 'many' || step.isRelation) shared.set(name, relation);
    }
  }
  return relations;
}

/** `inside` plans the conditions on a related row. By default, the row must match all of them. */
function relationStep(
  context: Context,
  { step, conditions }: Relation,
  rows: number,
  inside: typeof eitherSteps = tableNode,
): TableNode | LinkNode | AnyNode {
  const { path } = step;
  if (step.kind === 'generic') return genericNode(context, step, conditions, rows);
  if (step.kind === 'many') {
    const parents = step.table.starts!.length - 1;
    const { steps, estimate: related, ns } = inside(context, step.table.rows, conditions);
    const isForNulls = holdsForNulls({ steps });
    const estimate = isForNulls ? parents : Math.min(parents, related);
    const joinNs = related * COST.joined + (isForNulls ? parents * COST.rowInOrder : 0);
    return { kind: 'table', path, steps, estimate, ns: ns + joinNs };
  }
  const { index, link } = step;
  const to = link.to();
  const { steps, estimate: related, ns } = inside(context, to.rows, conditions);
  const { size } = index.dictionary;
  const all = index.countOf({ start: 0, end: size });
  const rowsPerCode = all / Math.max(1, size);
  const estimate = holdsForNulls({ steps }) ? index.rows : Math.min(all, Math.ceil(related * rowsPerCode));
  const joinNs = codesLinkingNs(link, related) + setNs(estimate, index.rows);
  return { kind: 'link', path, to: to.declaration.name, steps, estimate, ns: ns + joinNs };
}

/**
 * Conditions on the record that a generic link points at, in each collection that it may be in. A field that a
 * collection lacks is null there. If all conditions require null, rows match unless their record has a value, because
 * there may be no record.
 */
function genericNode(
  context: Context,
  { path }: GenericStep,
  conditions: readonly PlacedCondition[],
  rows: number,
): AnyNode {
  const areForNulls = conditions.every(({ condition }) => isForNulls(condition));
  const endsOf = ({ steps }: PlacedCondition): GenericStep['ends'] => (steps[0] as GenericStep).ends;
  const options = new Set(conditions.flatMap((placed) => endsOf(placed).map(({ option }) => option)));
  const nodes = [...options].flatMap((option) => {
    const { lookup, text, field, discriminator, codes } = option;
    const inner: PlacedCondition[] = [];
    for (const placed of conditions) {
      const end = endsOf(placed).find((one) => one.option === option);
      if (end) inner.push({ condition: { ...placed.condition, path: end.path }, index: end.index!, steps: end.steps });
      else if (!isForNulls(placed.condition)) return [];
    }
    if (codes.start === codes.end) return [];
    const operand = { kind: 'text', values: [text] } as const;
    const condition = { key: field, path: [...path.slice(0, -1), field], lookup, isNegated: false, operand };
    const kind: PlacedCondition = { condition, index: discriminator, steps: NO_STEPS };
    if (!areForNulls) return [tableNode(context, rows, [kind, ...inner])];
    return [tableNode(context, rows, [kind], [anyNode([tableNode(context, rows, inner)], rows, true)])];
  });
  return anyNode(nodes, rows, areForNulls);
}

/**
 * Orders steps by their cost for each row that they are likely to drop. This order is best if the steps are independent
 * (Hellerstein and Stonebraker 1993, 4).
 */
export function cheapestFirst(steps: readonly PlanStep[], rows: number): readonly PlanStep[] {
  if (steps.length < 2) return steps;
  const ranked = steps.map((step) => ({ step, rank: rankOf(step, rows) }));
  return ranked.sort((a, b) => a.rank - b.rank || a.step.estimate - b.step.estimate).map(({ step }) => step);
}

function rankOf(step: PlanStep, rows: number): number {
  const left = Math.min(1, step.estimate / Math.max(1, rows));
  return step.ns / Math.max(DROPPED_MIN, 1 - (hasSearch(step) ? left * SEARCH_SELECTIVITY : left));
}

function hasSearch(step: PlanStep): boolean {
  if (step.kind !== 'condition') return step.steps.some(hasSearch);
  return step.codes === undefined && lookupNamed(step.lookup)!.search !== undefined;
}
