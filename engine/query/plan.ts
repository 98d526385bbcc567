// Plans a parsed query: conditions grouped by the table they are about, cheapest first, with what each will cost.
// A plan is plain data that can be printed, cloned and sent to another thread. Runs nothing. Called by handlers, explain.ts.
import { rowsPerParentMax, type CollectionIndex } from '../index/table.ts';
import type { FieldIndex } from '../index/field.ts';
import { gramQuery } from '../index/grams.ts';
import type { CodeRange } from '../column/dictionary.ts';
import type { ServedForm } from '../column/served.ts';
import type { Facet, OrderKey } from './listControls.ts';
import { lookupNamed, scanCostOf, type Lookup } from './lookups.ts';
import { holdsForNulls } from './nulls.ts';
import type { Condition, ListRequest } from './parse.ts';
import { joinSteps } from '../index/join.ts';
import { locateField, type LinkStep, type LocatedField, type ManyStep } from './path.ts';
import type { Operand } from './values.ts';
import { INLINE_VIEW_STEPS_MAX, viewStepsOf } from './viewCost.ts';

/**
 * How a condition finds its rows. `posting list`: the rows of one code. `code range`: those of neighbouring codes.
 * `code list`: those of several codes or ranges. `scan`: a matcher over all texts of the dictionary, then the rows of the
 * codes that hit. `n-gram`: the same over those texts that the n-gram index names. `row check`: the matcher over the texts of
 * the rows that are left, where they are few. `nothing`: none.
 */
export type Access = 'nothing' | 'posting list' | 'code range' | 'code list' | 'scan' | 'n-gram' | 'row check';

/**
 * One condition on a table's rows. `estimate` is the number of rows that match: exact where postings say so, else an upper
 * bound. `scanBytes` is how much text a matcher sees, about, each byte counted as often as `contains` is faster than this
 * matcher; 0 without one.
 */
export interface ConditionStep {
  readonly kind: 'condition';
  readonly path: readonly string[];
  readonly lookup: string;
  readonly isNegated: boolean;
  readonly operand: Operand;
  readonly access: Access;
  readonly estimate: number;
  readonly scanBytes: number;
}

/**
 * What the conditions on one relation have in common. Steps are in the order in which they run; `estimate` is an upper
 * bound of the related rows that match all, `reaches` one of the rows around that have such a related row.
 * `joinSteps` is how many codes and rows the joins through links look at. `isNarrowed` where only the rows are asked that
 * are related to what the steps before leave.
 */
interface Related {
  readonly steps: readonly PlanStep[];
  readonly estimate: number;
  readonly reaches: number;
  readonly scanBytes: number;
  readonly joinSteps: number;
  readonly isNarrowed: boolean;
}

/**
 * Conditions that must hold for the same row of one table (A45). `table` is the path of the to-many relation, empty for the
 * collection itself.
 */
export interface TableNode extends Related {
  readonly kind: 'table';
  readonly table: readonly string[];
}

/**
 * Conditions that must hold for the record that a link points at, one of the collection `to`. `link` is the path of the
 * link; around it lie the rows that have it.
 */
export interface LinkNode extends Related {
  readonly kind: 'link';
  readonly link: readonly string[];
  readonly to: string;
}

/** One step of a plan: a condition on the rows at hand, or conditions on rows related to them. */
export type PlanStep = ConditionStep | TableNode | LinkNode;

/**
 * How a list is found: the records of `node`, without those of each tree in `excluded`, a negated condition each (A46);
 * none at all where `isEmpty`. How it is shown: by `order`, or by id from the one behind `after`.
 * `cost` is a rough number of microseconds on one core. A plan that `isHeavy` belongs in the pool.
 */
export interface Plan {
  readonly collection: string;
  readonly node: TableNode;
  readonly excluded: readonly TableNode[];
  readonly isEmpty: boolean;
  readonly order: readonly OrderKey[];
  readonly after: number | undefined;
  readonly offset: number;
  readonly limit: number;
  readonly facets: readonly Facet[];
  readonly form: ServedForm;
  readonly cost: number;
  readonly isHeavy: boolean;
}

/** Text that may be scanned in a serving thread, in bytes: 20 to 50 us, well below the 250 us that a request may take. */
export const INLINE_SCAN_BYTES_MAX = 65_536;

/** Members of `in` that may be looked up in a serving thread: about 0.5 us each, the sets of rows included. */
export const INLINE_VALUES_MAX = 1024;

/**
 * Codes and rows that joins through links may touch in a serving thread: about 2 ns each, one pass over them 130 us.
 */
export const INLINE_JOIN_STEPS_MAX = 65_536;

/** Members whose rows are counted while planning; beyond, the count would cost as much as the query. */
const COUNTED_VALUES_MAX = 64;

/** A row check is chosen when it sees this many times less text than a scan: rows are scattered, texts neighbours. */
const ROW_CHECK_GAIN = 4;

/** Only related rows are asked where they are this many times fewer than all: finding them one by one costs more. */
const NARROWING_GAIN = 16;

const SCAN_NANOSECONDS_PER_BYTE = 1;
const ROW_NANOSECONDS = 2;
const VALUE_NANOSECONDS = 500;
const JOIN_STEP_NANOSECONDS = 2;
const VIEW_NANOSECONDS = 30;

/** Plans a request without problems. Cost: a binary search per value, for the first 64 of each condition. */
export function plan(collection: CollectionIndex, request: ListRequest, form: ServedForm): Plan {
  const context: Context = { collection, form };
  const placed = request.conditions.map((condition) => place(collection, condition));
  const node = rootNode(
    context,
    placed.filter(({ condition }) => !condition.isNegated),
    collection.rows,
  );
  const excluded = placed
    .filter(({ condition }) => condition.isNegated)
    .map((condition) => rootNode(context, [condition], node.estimate))
    .sort((a, b) => a.scanBytes - b.scanBytes);
  const trees = [node, ...excluded];
  const work: Work = {
    values: request.conditions.reduce((sum, { operand }) => sum + operand.values.length, 0),
    scanBytes: trees.reduce((sum, tree) => sum + tree.scanBytes, 0),
    joinSteps: trees.reduce((sum, tree) => sum + tree.joinSteps, 0),
    rows: trees.reduce((sum, tree) => sum + rowsOf(tree), 0),
    viewSteps: viewStepsOf(collection, { ...request, form }, request.conditions.length > 0 ? node.estimate : undefined),
  };
  const { isEmpty, order, after, offset, limit, facets } = request;
  return {
    collection: collection.declaration.name,
    node,
    excluded,
    isEmpty,
    order,
    after,
    offset,
    limit,
    facets,
    form,
    cost: microseconds(work),
    isHeavy: !isEmpty && (isHeavy(work) || hasRegex({ node, excluded })),
  };
}

/** Whether a plan has regular expressions, for which the time in the pool is limited. Cost: its steps. */
export function hasRegex({ node, excluded }: Pick<Plan, 'node' | 'excluded'>): boolean {
  const isPooled = (step: PlanStep): boolean =>
    step.kind === 'condition' ? lookupNamed(step.lookup)!.isPooled === true : step.steps.some(isPooled);
  return [node, ...excluded].some(isPooled);
}

/** What a plan makes a thread do, about. `viewSteps` is at most how many rows and values ordering and facets look at. */
interface Work {
  readonly values: number;
  readonly scanBytes: number;
  readonly joinSteps: number;
  readonly rows: number;
  readonly viewSteps: number;
}

function isHeavy({ scanBytes, values, joinSteps, viewSteps }: Work): boolean {
  return (
    scanBytes > INLINE_SCAN_BYTES_MAX ||
    values > INLINE_VALUES_MAX ||
    joinSteps > INLINE_JOIN_STEPS_MAX ||
    viewSteps > INLINE_VIEW_STEPS_MAX
  );
}

function microseconds({ values, scanBytes, joinSteps, rows, viewSteps }: Work): number {
  const nanoseconds =
    scanBytes * SCAN_NANOSECONDS_PER_BYTE +
    joinSteps * JOIN_STEP_NANOSECONDS +
    rows * ROW_NANOSECONDS +
    values * VALUE_NANOSECONDS +
    viewSteps * VIEW_NANOSECONDS;
  return Math.ceil(nanoseconds / 1000);
}

interface Context {
  readonly collection: CollectionIndex;
  readonly form: ServedForm;
}

/** A condition with the relations that lie between the table at hand and its field. */
interface Placed {
  readonly condition: Condition;
  readonly located: LocatedField;
  readonly steps: readonly (ManyStep | LinkStep)[];
}

function place(collection: CollectionIndex, condition: Condition): Placed {
  const located = locateField(collection, condition.path);
  return { condition, located, steps: located.steps };
}

/** The root of a tree of steps over at most `bound` records. */
function rootNode(context: Context, placed: readonly Placed[], bound: number): TableNode {
  const conditions = settled(context, draftOf(context, undefined, placed), bound);
  return { kind: 'table', table: [], ...conditions, reaches: conditions.estimate, isNarrowed: false };
}

/**
 * The conditions on one relation before the order around it is known: what they find if all of its rows are asked. Each is
 * drafted once and settled once, so that a key of many steps costs no more than its steps. `step` is undefined at the root.
 */
interface Draft {
  readonly kind: 'draft';
  readonly step: ManyStep | LinkStep | undefined;
  readonly steps: readonly (ConditionStep | Draft)[];
  readonly rows: number;
  readonly estimate: number;
  readonly scanBytes: number;
}

function draftOf(context: Context, step: Draft['step'], placed: readonly Placed[]): Draft {
  const children = childrenOf(placed).map((child) => draftOf(context, child.step, child.inside));
  const own = placed.filter(({ steps }) => steps.length === 0).map((one) => conditionStep(context, one));
  const steps = [...own, ...children].sort((a, b) => a.scanBytes - b.scanBytes || reachOf(a) - reachOf(b));
  const rows = step ? rowsBehind(step) : context.collection.rows;
  return {
    kind: 'draft',
    step,
    steps,
    rows,
    estimate: Math.min(rows, ...steps.map(reachOf)),
    scanBytes: steps.reduce((sum, one) => sum + one.scanBytes, 0),
  };
}

/** How many rows a relation has. */
function rowsBehind(step: ManyStep | LinkStep): number {
  return step.kind === 'link' ? step.link.to().rows : step.table.rows;
}

/** At most how many rows of the table at hand a step leaves. */
function reachOf(step: ConditionStep | Draft): number {
  return step.kind === 'draft' && step.step ? rowsReached(step.step, step) : step.estimate;
}

/** At most how many rows have a related row, of which at most `estimate` match. */
function rowsReached(step: ManyStep | LinkStep, found: Pick<Draft | Related, 'estimate' | 'steps'>): number {
  if (step.kind === 'many') return holdsForNulls(found) ? step.table.starts!.length - 1 : found.estimate;
  const { index, link } = step;
  if (holdsForNulls(found)) return index.rows;
  const nulls = index.countOf({ start: index.dictionary.size, end: index.dictionary.size + 1 });
  return Math.min(index.rows - nulls, found.estimate * link.rowsPerTargetMax());
}

type Settled = Pick<Related, 'steps' | 'estimate' | 'scanBytes' | 'joinSteps'>;

/** The steps of a draft of which at most `bound` rows are asked, in their order, each for what those before leave. */
function settled(context: Context, draft: Draft, bound: number): Settled {
  let estimate = bound;
  let scanBytes = 0;
  let joined = 0;
  const steps = draft.steps.map((step): PlanStep => {
    const chosen = step.kind === 'draft' ? relation(context, step, estimate) : withRowCheck(context, step, estimate);
    // Behind a step that leaves nothing none is run.
    if (estimate > 0) {
      scanBytes += chosen.scanBytes;
      joined += chosen.kind === 'condition' ? 0 : chosen.joinSteps;
    }
    estimate = Math.min(estimate, chosen.kind === 'condition' ? chosen.estimate : chosen.reaches);
    return chosen;
  });
  return { steps, estimate, scanBytes, joinSteps: joined };
}

/** Where few rows are left, only what they are related to is asked. */
function relation(context: Context, draft: Draft, left: number): TableNode | LinkNode {
  const step = draft.step!;
  const related = step.kind === 'link' ? left : left * rowsPerParentMax(step.table);
  const isNarrowed = related * NARROWING_GAIN <= draft.rows;
  const conditions = settled(context, draft, isNarrowed ? related : draft.rows);
  const reaches = Math.min(left, rowsReached(step, conditions));
  if (step.kind === 'many') return { kind: 'table', table: step.path, ...conditions, reaches, isNarrowed };
  const { path, link } = step;
  const ownSteps = isNarrowed ? left : joinSteps(link, conditions.estimate) + rowsReached(step, conditions);
  const to = link.to().declaration.name;
  return {
    kind: 'link',
    link: path,
    to,
    ...conditions,
    joinSteps: conditions.joinSteps + ownSteps,
    reaches,
    isNarrowed,
  };
}

interface Child {
  readonly step: ManyStep | LinkStep;
  readonly inside: Placed[];
}

/** Conditions on one relation share its row (A45); those on one array of scalars do not (A37). */
function childrenOf(placed: readonly Placed[]): readonly Child[] {
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

function conditionStep({ form }: Context, { condition, located }: Placed): ConditionStep {
  const { path, lookup, isNegated, operand } = condition;
  const { index } = located;
  const base = { kind: 'condition', path, lookup, isNegated, operand } as const;
  if (operand.values.length > COUNTED_VALUES_MAX) return { ...base, ...uncounted(index, operand) };
  const found = lookupNamed(lookup)!;
  const codes = found.codes(index.dictionary, operand, form);
  if (codes) return { ...base, access: accessOf(codes), estimate: countOf(index, codes), scanBytes: 0 };
  return { ...base, estimate: index.rows, ...searched(index, found, operand) };
}

/** What a search looks at: all texts, or those of the blocks in the shortest list that the n-gram index has for it. */
function searched(
  { dictionary, grams }: FieldIndex,
  lookup: Lookup,
  operand: Operand,
): Pick<ConditionStep, 'access' | 'scanBytes'> {
  const whole = scanCostOf(lookup, dictionary);
  const search = grams && lookup.search?.(operand);
  const needle = search?.kind === 'text' ? search.needle : undefined;
  const query = grams && needle && gramQuery(grams, needle);
  if (!query) return { access: 'scan', scanBytes: whole };
  // An entry of a list has at least one byte, so that a list has at most as many blocks as bytes.
  const part = Math.min(1, (query.bytes * grams.block) / dictionary.size);
  return { access: 'n-gram', scanBytes: Math.ceil(whole * part) + query.bytes };
}

function uncounted(index: FieldIndex, operand: Operand): Pick<ConditionStep, 'access' | 'estimate' | 'scanBytes'> {
  const rowsPerCode = Math.ceil(index.rows / Math.max(1, index.dictionary.size));
  return { access: 'code list', estimate: Math.min(index.rows, operand.values.length * rowsPerCode), scanBytes: 0 };
}

function accessOf(codes: readonly CodeRange[]): Access {
  const [first, second] = codes;
  if (!first || first.start >= first.end) return 'nothing';
  if (second) return 'code list';
  return first.end === first.start + 1 ? 'posting list' : 'code range';
}

function countOf(index: FieldIndex, codes: readonly CodeRange[]): number {
  return codes.reduce((sum, range) => sum + index.countOf(range), 0);
}

/** A scan becomes a check of the rows that the steps before leave, where these are few. */
function withRowCheck({ collection }: Context, step: ConditionStep, left: number): ConditionStep {
  if (step.access !== 'scan' && step.access !== 'n-gram') return step;
  const { dictionary } = locateField(collection, step.path).index;
  const perRow = Math.ceil(scanCostOf(lookupNamed(step.lookup)!, dictionary) / Math.max(1, dictionary.size));
  const scanBytes = left * perRow;
  if (scanBytes * ROW_CHECK_GAIN > step.scanBytes) return step;
  return { ...step, access: 'row check', estimate: Math.min(left, step.estimate), scanBytes };
}

function rowsOf({ steps }: TableNode | LinkNode): number {
  return steps.reduce((sum, step) => sum + (step.kind === 'condition' ? step.estimate : rowsOf(step)), 0);
}
