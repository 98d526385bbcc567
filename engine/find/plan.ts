// Plans a parsed query: conditions grouped by the table they are about, cheapest first, with what each will cost. A
// plan is plain data that can be printed, cloned and sent to another thread. Runs nothing.
import { wordsFor } from '../bits/bitmap.ts';
import { joinSteps } from '../index/join.ts';
import { COUNTED_CODES_MAX } from '../index/mostRows.ts';
import type { CollectionIndex, Table } from '../index/table.ts';
import type { ServedForm } from '../column/served.ts';
import type { Ask, Page } from '../query/ask.ts';
import type { ConditionStep } from './conditionStep.ts';
import { cheapestFirst, placed, rootDraft, rowsReached } from './draft.ts';
import type { Arrange, Draft, DraftContext, PlacedCondition, RootDraft } from './draft.ts';
import { walkTo, type Walk } from './firstRows.ts';
import { holdsForNulls } from './nulls.ts';
import { lookupNamed } from '../query/lookups.ts';
import { locateField } from '../query/path.ts';
import { isWorthChecking, isWorthNarrowing, relatedRowsMax, rowCheckBytes } from './fewRows.ts';
import { hasView, INLINE_VIEW_STEPS_MAX, viewStepsOf } from './viewCost.ts';

/**
 * What the conditions on one relation have in common. Steps are in the order in which they run; `estimate` is an upper
 * bound of the related rows that match all, `reaches` one of the rows around that have such a related row. `joinSteps`
 * is how many codes and rows the joins look at, that of the relation itself and those within. `isNarrowed` where only
 * the rows are asked that are related to what the steps before leave.
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
 * Conditions that must hold for the same row of one table (A45). `table` is the path of the to-many relation, empty for
 * the collection itself.
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
 * none at all where `isEmpty`. How it is shown: its `page`, in a `form`. `cost` is a rough
 * number of microseconds on one core. Finding all rows of a plan that `isHeavy` belongs in the pool. With a `walk` the
 * page is looked for first, in whatever thread.
 */
export interface Plan {
  readonly collection: string;
  readonly node: TableNode;
  readonly excluded: readonly TableNode[];
  readonly isEmpty: boolean;
  readonly page: Page;
  readonly form: ServedForm;
  readonly walk: Walk | undefined;
  readonly cost: number;
  readonly isHeavy: boolean;
}

/**
 * Text that may be scanned in a serving thread, in bytes: 20 to 50 us, well below the 250 us that a request may take.
 */
export const INLINE_SCAN_BYTES_MAX = 65_536;

/** Bytes of n-gram lists that are read for one plan, those of four needles: each names a block, 20 to 40 ns later. */
const LIST_BYTES_READ_MAX = 16_384;

/** Members of `in` that may be looked up in a serving thread: about 0.5 us each, the sets of rows included. */
export const INLINE_VALUES_MAX = 1024;

/** Codes and rows that joins may touch in a serving thread: 2 to 5 ns each, one pass over them 130 to 330 us. */
export const INLINE_JOIN_STEPS_MAX = 65_536;

/** Rows that sets may be put together of in a serving thread: about 2.3 ns each. */
export const INLINE_ROWS_GATHERED_MAX = 65_536;

/** What one more set costs, were it ready, in rows for each word of a bitmap; less where few rows are left. */
const SET_PART = 1 / 2;

const SCAN_NANOSECONDS_PER_BYTE = 1;
const ROW_NANOSECONDS = 2;
const VALUE_NANOSECONDS = 500;
const JOIN_STEP_NANOSECONDS = 2;
const VIEW_NANOSECONDS = 30;

/**
 * Plans what is asked without problems. `arrange` decides the order of steps on one table. Cost: a binary search per
 * value, for up to 64 of each condition and of lists 1,024 in all, and a look at up to 64 rows of each; up to 16 kB of
 * n-gram lists; codes of long columns are counted for the first plans that ask about them.
 */
export function plan(collection: CollectionIndex, ask: Ask, form: ServedForm, arrange: Arrange = cheapestFirst): Plan {
  if (ask.conditions.length === 0) return planned(collection, ask, form, NOTHING_TO_FIND);
  const context: DraftContext = {
    collection,
    form,
    arrange,
    codesToCount: COUNTED_CODES_MAX,
    valuesToFind: INLINE_VALUES_MAX,
    listBytesToRead: LIST_BYTES_READ_MAX,
  };
  const wanted: PlacedCondition[] = [];
  const unwanted: PlacedCondition[] = [];
  let values = 0;
  for (const condition of ask.conditions) {
    (condition.isNegated ? unwanted : wanted).push(placed(collection, condition));
    values += condition.operand.values.length;
  }
  const node = rootNode(context, wanted, collection.rows);
  const excluded = unwanted.map((condition) => rootNode(context, [condition], node.estimate));
  if (excluded.length > 1) excluded.sort((a, b) => a.scanBytes - b.scanBytes);
  let { scanBytes, joinSteps: joined } = node;
  let rows = rowsOf(node);
  let rowsGathered = gatheredOf(node);
  for (const tree of excluded) {
    scanBytes += tree.scanBytes;
    joined += tree.joinSteps;
    rows += rowsOf(tree);
    rowsGathered += gatheredOf(tree);
  }
  rowsGathered += (ask.conditions.length - 1) * Math.min(node.estimate, SET_PART * wordsFor(collection.rows));
  const work = { values, scanBytes, joinSteps: joined, rows, rowsGathered };
  return planned(collection, ask, form, { node, excluded, work });
}

/** What a plan finds its rows by, and the work that this is; nothing where all rows are wanted. */
interface Finding {
  readonly node: TableNode | undefined;
  readonly excluded: readonly TableNode[];
  readonly work: Omit<Work, 'viewSteps'>;
}

const NOTHING_TO_FIND: Finding = {
  node: undefined,
  excluded: [],
  work: { values: 0, scanBytes: 0, joinSteps: 0, rows: 0, rowsGathered: 0 },
};

function planned(
  collection: CollectionIndex,
  ask: Ask,
  form: ServedForm,
  { node, excluded, work: found }: Finding,
): Plan {
  const { isEmpty, page } = ask;
  const viewSteps = viewStepsOf(collection, page, form, node?.estimate);
  const walk = node && !isEmpty ? walkBy(collection, { node, excluded }, page) : undefined;
  const work: Work = {
    values: found.values,
    scanBytes: found.scanBytes,
    joinSteps: found.joinSteps,
    rows: walk?.rows ?? found.rows,
    rowsGathered: found.rowsGathered,
    viewSteps,
  };
  return {
    collection: collection.declaration.name,
    node: node ?? allOf(collection.rows),
    excluded,
    isEmpty,
    page,
    form,
    walk,
    cost: microseconds(work),
    isHeavy: !isEmpty && (isHeavy(work) || (node !== undefined && hasRegex({ node, excluded }))),
  };
}

/** A walk to the page of a list by id that has one condition, on the records themselves. */
function walkBy(
  { rows }: CollectionIndex,
  { node, excluded }: { readonly node: TableNode; readonly excluded: readonly TableNode[] },
  page: Page,
): Walk | undefined {
  if (hasView(page) || page.after !== undefined) return undefined;
  if (node.steps.length + excluded.length !== 1) return undefined;
  const { steps } = excluded[0] ?? node;
  const only = steps[0];
  return steps.length === 1 && only?.kind === 'condition' ? walkTo(only, rows, page) : undefined;
}

/** The root of a tree without steps. */
function allOf(rows: number): TableNode {
  return {
    kind: 'table',
    table: NO_TABLE,
    steps: NO_STEPS,
    estimate: rows,
    reaches: rows,
    scanBytes: 0,
    joinSteps: 0,
    isNarrowed: false,
  };
}

const NO_TABLE: readonly string[] = [];
const NO_STEPS: readonly PlanStep[] = [];

/** Whether a plan has regular expressions, for which the time in the pool is limited. Cost: its steps. */
export function hasRegex({ node, excluded }: Pick<Plan, 'node' | 'excluded'>): boolean {
  return isPooled(node) || excluded.some(isPooled);
}

function isPooled(step: PlanStep): boolean {
  return step.kind === 'condition' ? lookupNamed(step.lookup)!.isPooled === true : step.steps.some(isPooled);
}

/**
 * What a plan makes a thread do, about. `viewSteps` is at most how many rows and values ordering and facets look at.
 */
interface Work {
  readonly values: number;
  readonly scanBytes: number;
  readonly joinSteps: number;
  readonly rows: number;
  readonly rowsGathered: number;
  readonly viewSteps: number;
}

function isHeavy({ scanBytes, values, joinSteps, rowsGathered, viewSteps }: Work): boolean {
  return (
    rowsGathered > INLINE_ROWS_GATHERED_MAX ||
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

/** The root of a tree of steps over at most `bound` records. */
function rootNode(context: DraftContext, conditions: readonly PlacedCondition[], bound: number): TableNode {
  const { steps, estimate, scanBytes, joinSteps } = settled(context, rootDraft(context, conditions), bound);
  const table = NO_TABLE;
  return { kind: 'table', table, steps, estimate, reaches: estimate, scanBytes, joinSteps, isNarrowed: false };
}

type Settled = Pick<Related, 'steps' | 'estimate' | 'scanBytes' | 'joinSteps'>;

/** The steps of a draft of which at most `bound` rows are asked, in their order, each for what those before leave. */
function settled(context: DraftContext, draft: RootDraft, bound: number): Settled {
  let estimate = bound;
  let scanBytes = 0;
  let joined = 0;
  const steps: PlanStep[] = [];
  for (const step of draft.steps) {
    const chosen = step.kind === 'draft' ? relation(context, step, estimate) : withRowCheck(context, step, estimate);
    // Behind a step that leaves nothing none is run.
    if (estimate > 0) {
      scanBytes += chosen.scanBytes;
      joined += chosen.kind === 'condition' ? 0 : chosen.joinSteps;
    }
    estimate = Math.min(estimate, chosen.kind === 'condition' ? chosen.estimate : chosen.reaches);
    steps.push(chosen);
  }
  return { steps, estimate: Math.min(estimate, draft.estimate), scanBytes, joinSteps: joined };
}

/** Where few rows are left, only what they are related to is asked. */
function relation(context: DraftContext, draft: Draft, left: number): TableNode | LinkNode {
  const step = draft.step!;
  const related = relatedRowsMax(step, left);
  const isNarrowed = isWorthNarrowing(related, draft.rows);
  const conditions = settled(context, draft, isNarrowed ? related : draft.rows);
  const reach = Math.min(draft.reach, rowsReached(step, conditions, context));
  const reaches = Math.min(left, reach);
  if (step.kind === 'many') {
    const own = manyJoinSteps(step.table, conditions, isNarrowed ? related : conditions.estimate);
    const joined = conditions.joinSteps + own;
    return { kind: 'table', table: step.path, ...conditions, joinSteps: joined, reaches, isNarrowed };
  }
  const { path, link } = step;
  const own = isNarrowed ? left : joinSteps(link, conditions.estimate) + reach;
  const joined = conditions.joinSteps + own;
  const to = link.to().declaration.name;
  return { kind: 'link', link: path, to, ...conditions, joinSteps: joined, reaches, isNarrowed };
}

/**
 * How many rows a join through a to-many relation looks at: `carried` of the related ones, and all around where those
 * without any count.
 */
function manyJoinSteps(
  { starts }: Table,
  conditions: { readonly steps: readonly PlanStep[] },
  carried: number,
): number {
  return holdsForNulls(conditions) ? carried + starts!.length - 1 : carried;
}

/**
 * A scan becomes a check of the rows that the steps before leave, where these are few; codes are then looked up by row
 * too.
 */
function withRowCheck({ collection }: DraftContext, step: ConditionStep, left: number): ConditionStep {
  if (step.access !== 'scan' && step.access !== 'n-gram') {
    const gathered = step.rowsGathered + step.rowsJoined;
    return isWorthChecking(left, gathered) ? { ...step, rowsGathered: left, rowsJoined: 0 } : step;
  }
  const scanBytes = rowCheckBytes(step, locateField(collection, step.path).index, left);
  if (scanBytes === undefined) return isWorthChecking(left, step.rowsGathered) ? { ...step, rowsGathered: left } : step;
  return { ...step, access: 'row check', estimate: Math.min(left, step.estimate), scanBytes, rowsGathered: 0 };
}

function gatheredOf({ steps }: TableNode | LinkNode): number {
  let sum = 0;
  for (const step of steps) sum += step.kind === 'condition' ? step.rowsGathered + step.rowsJoined : gatheredOf(step);
  return sum;
}

function rowsOf({ steps }: TableNode | LinkNode): number {
  let sum = 0;
  for (const step of steps) sum += step.kind === 'condition' ? step.estimate : rowsOf(step);
  return sum;
}
