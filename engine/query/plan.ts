// Plans a parsed query: conditions grouped by the table they are about, cheapest first, with what each will cost.
// A plan is plain data that can be printed, cloned and sent to another thread. Runs nothing. Called by handlers, explain.ts.
import type { CollectionIndex } from '../index/table.ts';
import type { FieldIndex } from '../index/field.ts';
import { gramQuery } from '../index/grams.ts';
import type { CodeRange } from '../column/dictionary.ts';
import type { ServedForm } from '../column/served.ts';
import { lookupNamed, scanCostOf, type Lookup } from './lookups.ts';
import { holdsForNulls } from './nulls.ts';
import type { Condition, ListRequest } from './parse.ts';
import { locateField, type LocatedField, type ManyStep } from './path.ts';
import type { Operand } from './values.ts';

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
 * Conditions that must hold for the same row of one table (A45). `table` is the path of the to-many relation, empty for the
 * collection itself; a step may be a table within. Steps are in the order in which they run. `estimate` is an upper bound of
 * the rows of this table that match all.
 */
export interface TableNode {
  readonly kind: 'table';
  readonly table: readonly string[];
  readonly steps: readonly (ConditionStep | TableNode)[];
  readonly estimate: number;
  readonly scanBytes: number;
}

/**
 * How a list is found: the records of `node`, without those of each tree in `excluded`, a negated condition each (A46);
 * none at all where `isEmpty`. `cost` is a rough number of microseconds on one core. A plan that `isHeavy` belongs in the
 * pool.
 */
export interface Plan {
  readonly collection: string;
  readonly node: TableNode;
  readonly excluded: readonly TableNode[];
  readonly isEmpty: boolean;
  readonly offset: number;
  readonly limit: number;
  readonly form: ServedForm;
  readonly cost: number;
  readonly isHeavy: boolean;
}

/** Text that may be scanned in a serving thread, in bytes: 20 to 50 us, well below the 250 us that a request may take. */
export const INLINE_SCAN_BYTES_MAX = 65_536;

/** Members of `in` that may be looked up in a serving thread: about 0.5 us each, the sets of rows included. */
export const INLINE_VALUES_MAX = 1024;

/** Members whose rows are counted while planning; beyond, the count would cost as much as the query. */
const COUNTED_VALUES_MAX = 64;

/** A row check is chosen when it sees this many times less text than a scan: rows are scattered, texts neighbours. */
const ROW_CHECK_GAIN = 4;

const SCAN_NANOSECONDS_PER_BYTE = 1;
const ROW_NANOSECONDS = 2;
const VALUE_NANOSECONDS = 500;

/** Plans a request without problems. Cost: a binary search per value, for the first 64 of each condition. */
export function plan(collection: CollectionIndex, request: ListRequest, form: ServedForm): Plan {
  const context: Context = { collection, form };
  const placed = request.conditions.map((condition) => place(collection, condition));
  const node = tableNode(
    context,
    [],
    placed.filter(({ condition }) => !condition.isNegated),
    collection.rows,
  );
  const excluded = placed
    .filter(({ condition }) => condition.isNegated)
    .map((condition) => tableNode(context, [], [condition], node.estimate))
    .sort((a, b) => a.scanBytes - b.scanBytes);
  const values = request.conditions.reduce((sum, { operand }) => sum + operand.values.length, 0);
  const scanBytes = [node, ...excluded].reduce((sum, tree) => sum + tree.scanBytes, 0);
  return {
    collection: collection.declaration.name,
    node,
    excluded,
    isEmpty: request.isEmpty,
    offset: request.offset,
    limit: request.limit,
    form,
    cost: microseconds([node, ...excluded], scanBytes, values),
    isHeavy:
      !request.isEmpty &&
      (scanBytes > INLINE_SCAN_BYTES_MAX || values > INLINE_VALUES_MAX || hasRegex({ node, excluded })),
  };
}

/** Whether a plan has regular expressions, for which the time in the pool is limited. Cost: its steps. */
export function hasRegex({ node, excluded }: Pick<Plan, 'node' | 'excluded'>): boolean {
  const isPooled = (step: ConditionStep | TableNode): boolean =>
    step.kind === 'table' ? step.steps.some(isPooled) : lookupNamed(step.lookup)!.isPooled === true;
  return [node, ...excluded].some(isPooled);
}

interface Context {
  readonly collection: CollectionIndex;
  readonly form: ServedForm;
}

/** A condition with the tables that lie between the table at hand and its field. */
interface Placed {
  readonly condition: Condition;
  readonly located: LocatedField;
  readonly tables: readonly ManyStep[];
}

function place(collection: CollectionIndex, condition: Condition): Placed {
  const located = locateField(collection, condition.path);
  return { condition, located, tables: located.tables };
}

function tableNode(context: Context, table: readonly string[], placed: readonly Placed[], bound: number): TableNode {
  const children = childrenOf(placed).map(({ step, inside }) =>
    tableNode(context, step.path, inside, step.node.table.rows),
  );
  const own = placed.filter(({ tables }) => tables.length === 0).map((one) => conditionStep(context, one));
  let estimate = bound;
  const steps = [...own, ...children].sort(cheapestFirst).map((step) => {
    const chosen = step.kind === 'condition' ? withRowCheck(context, step, estimate) : step;
    // Parents without rows come on top of those of the rows that match.
    if (chosen.kind === 'condition' || !holdsForNulls(chosen)) estimate = Math.min(estimate, chosen.estimate);
    return chosen;
  });
  const scanBytes = steps.reduce((sum, step) => sum + step.scanBytes, 0);
  return { kind: 'table', table, steps, estimate, scanBytes };
}

interface Child {
  readonly step: ManyStep;
  readonly inside: Placed[];
}

/** Conditions on one relation share its row (A45); those on one array of scalars do not (A37). */
function childrenOf(placed: readonly Placed[]): readonly Child[] {
  const children: Child[] = [];
  const relations = new Map<string, Child>();
  for (const { condition, located, tables } of placed) {
    const step = tables[0];
    if (!step) continue;
    const name = step.path.join('__');
    const inside = { condition, located, tables: tables.slice(1) };
    const known = relations.get(name);
    if (known) known.inside.push(inside);
    else {
      const child = { step, inside: [inside] };
      children.push(child);
      if (step.node.isRelation) relations.set(name, child);
    }
  }
  return children;
}

function cheapestFirst(a: ConditionStep | TableNode, b: ConditionStep | TableNode): number {
  return a.scanBytes - b.scanBytes || a.estimate - b.estimate;
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

function microseconds(trees: readonly TableNode[], scanBytes: number, values: number): number {
  const rows = trees.reduce((sum, tree) => sum + rowsOf(tree), 0);
  return Math.ceil(
    (scanBytes * SCAN_NANOSECONDS_PER_BYTE + rows * ROW_NANOSECONDS + values * VALUE_NANOSECONDS) / 1000,
  );
}

function rowsOf(node: TableNode): number {
  return node.steps.reduce((sum, step) => sum + (step.kind === 'table' ? rowsOf(step) : step.estimate), 0);
}
