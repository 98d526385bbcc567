// Executes a plan: computes sets of rows per table, joins them to the records, subtracts what is excluded, and selects
// the rows of the page. Never reads a record's bytes.
import {
  allRows,
  countRows,
  countSelected,
  NO_ROWS,
  rankOf,
  type RowSet,
  select,
  type Selection,
} from '../index/rowset.ts';
import { type CollectionIndex, rowAfterId } from '../index/table.ts';
import { type Lookup, lookupNamed } from '../query/lookups.ts';
import { locate, locateField, type ManyStep } from '../query/path.ts';
import type { AnyOf, Page } from '../query/ask.ts';
import { type ConditionStep, urlsRead, valuesNs } from './conditionStep.ts';
import { Meter, ignoreSpentBudget } from './counters.ts';
import { facetCounts, type FacetCounts } from './facetCounts.ts';
import { firstRows, rowsOfCodeBits, rowsOfCodeSet, rowsOfCodesIn } from './postings.ts';
import {
  childCount,
  childlessRows,
  childrenOf,
  codesLinkingNs,
  codesPointingAt,
  COST,
  holdsForNulls,
  intersectRows,
  linkedRows,
  linkingRows,
  listRows,
  parentRows,
  rowLinkNs,
  subtractRows,
  uniteRows,
  walkNs,
} from './passes.ts';
import { orderedPage } from './orderedPage.ts';
import { type LinkNode, type Plan, plan, type PlanStep, type TableNode } from './plan.ts';
import { codesWithWord, scanCodes, type ScanContext, scanRows, scanRowsNs } from './scan.ts';

/** The records of a list that its page shows. */
export interface Hits {
  /** The exact number of matching records. */
  readonly count: number;
  /** The records of the page, in order. */
  readonly rows: Selection;
  /** The position of the first of them in the list. */
  readonly offset: number;
  readonly facets: readonly FacetCounts[];
}

/**
 * A relation is narrowed to related rows only if they are this many times fewer than all: finding them one by one costs
 * more per row.
 */
const NARROWING_GAIN = 16;

/**
 * Rows are checked one by one if a scan costs this many times more. Their texts are scattered in memory, which is
 * slower per text.
 */
const ROW_CHECK_GAIN = 2;

interface Context extends ScanContext {
  readonly collection: CollectionIndex;
}

/** Whether a list is ordered by values or ranked, or has facets. Both read more than the rows of its page. */
export function hasView({ order, ranking, facets }: Page): boolean {
  return order.length + facets.length > 0 || ranking !== undefined;
}

/** Runs a plan that was made for this collection. `undefined` if the meter's budget is spent or the task cancelled. */
export function execute(collection: CollectionIndex, plan: Plan, meter: Meter = new Meter()): Hits | undefined {
  const near = nearPage(collection, plan, meter);
  if (near) return near;
  const set = findRows(collection, plan, meter);
  return set && hitsOf(collection, set, plan, meter);
}

/** All rows that match a plan, whatever its page. `undefined` if the budget is spent or the task cancelled. */
export function findRows(collection: CollectionIndex, plan: Plan, meter: Meter = new Meter()): RowSet | undefined {
  if (plan.isEmpty) return NO_ROWS;
  try {
    return matching({ collection, form: plan.form, meter }, plan);
  } catch (error) {
    return ignoreSpentBudget(error);
  }
}

/**
 * The page of a list by id with one condition, found without computing all matching rows. `undefined` if the page is
 * not near the start, if finding all rows is as quick, or if the budget is spent. Cost: see postings.ts.
 */
export function nearPage(collection: CollectionIndex, plan: Plan, meter: Meter = new Meter()): Hits | undefined {
  const { node, excluded, page, isEmpty } = plan;
  if (isEmpty || hasView(page) || page.after !== undefined || node.steps.length + excluded.length !== 1)
    return undefined;
  const { steps } = excluded[0] ?? node;
  const only = steps[0]!;
  if (steps.length !== 1 || only.kind !== 'condition' || only.codes?.length !== 1) return undefined;
  const { index } = locateField(collection, only.path);
  meter.purpose = only;
  try {
    const found = firstRows(meter, index, only.codes[0]!, excluded.length > 0, page, only.ns);
    return found && { ...found, offset: page.offset, facets: [] };
  } catch (error) {
    return ignoreSpentBudget(error);
  }
}

/**
 * The page of a plan in order, and the facets, from the set of all its rows. `undefined` if the budget is spent or the
 * task cancelled.
 */
export function hitsOf(
  collection: CollectionIndex,
  set: RowSet,
  plan: Pick<Plan, 'page' | 'form'>,
  meter: Meter = new Meter(),
): Hits | undefined {
  try {
    return showPage(collection, set, plan, meter);
  } catch (error) {
    return ignoreSpentBudget(error);
  }
}

function showPage(
  collection: CollectionIndex,
  set: RowSet,
  { page, form }: Pick<Plan, 'page' | 'form'>,
  meter: Meter,
): Hits {
  const { order, ranking, after, limit, facets } = page;
  const offset = after === undefined ? page.offset : rankOf(set, rowAfterId(collection, after));
  const rows = ranking
    ? rankedPage({ collection, form, meter }, set, page)
    : order.length === 0
      ? selectPage(meter, set, offset, limit)
      : orderedPage(collection, set, { order, offset, limit }, { form, meter });
  const counted: FacetCounts[] = [];
  for (const facet of facets)
    counted.push(facetCounts(collection, facet, set, { form, meter, facetCount: facets.length }));
  meter.counters.rowsTouched += countSelected(rows);
  return { count: countRows(set), rows, offset, facets: counted };
}

function selectPage(meter: Meter, set: RowSet, offset: number, limit: number): Selection {
  if (set.kind !== 'range') meter.spend(Math.min(limit, Math.max(0, countRows(set) - offset)) * COST.listed);
  return select(set, offset, limit);
}

/** The page of a ranked list: rows of a few sets, one after the other, each by id. */
function rankedPage(context: Context, set: RowSet, page: Page): Selection {
  const { offset, limit } = page;
  const { meter } = context;
  const shown = new Uint32Array(Math.min(limit, Math.max(0, countRows(set) - offset)));
  meter.spend(shown.length * COST.listed);
  let skipped = 0;
  let length = 0;
  for (const tier of rankedSets(context, set, page)) {
    const count = countRows(tier);
    const start = Math.max(0, offset - skipped);
    if (start < count) {
      const rows = listRows(meter, select(tier, start, shown.length - length));
      shown.set(rows, length);
      length += rows.length;
    }
    if (length === shown.length) break;
    skipped += count;
  }
  return { kind: 'sequence', rows: shown };
}

/** Splits a set into sets without shared rows, the best matches first. Finds each set when it is read. */
function* rankedSets(context: Context, set: RowSet, page: Page): Generator<RowSet> {
  const { tiers, whole } = page.ranking!;
  const { collection, form, meter } = context;
  const { rows } = collection;
  const planSteps = (anyOf: readonly AnyOf[]): readonly PlanStep[] =>
    plan(collection, { conditions: [], anyOf, isEmpty: false, page }, form).node.steps;
  const wholeSteps = planSteps(whole);
  let rest = set;
  // The last tier has no condition.
  for (const tier of [...tiers, []]) {
    const hits = rowsOfSteps(context, planSteps(tier), rows, rest);
    const best = rowsOfSteps(context, wholeSteps, rows, hits);
    yield best;
    yield subtractRows(meter, hits, best, rows);
    rest = subtractRows(meter, rest, hits, rows);
  }
}

function matching(context: Context, { node, excluded }: Plan): RowSet {
  const { rows } = context.collection;
  let set = rowsOfSteps(context, node.steps, rows, allRows(rows));
  for (const tree of excluded) {
    if (countRows(set) === 0) return set;
    // Narrowing to `set` does not pay if reading the rows of `set` costs more than the excluded rows do.
    const start = tree.ns <= walkNs(set) ? allRows(rows) : set;
    set = subtractRows(context.meter, set, rowsOfSteps(context, tree.steps, rows, start), rows);
  }
  return set;
}

/** The rows of `start` that match every step. The table has `rows` rows. */
function rowsOfSteps(context: Context, steps: readonly PlanStep[], rows: number, start: RowSet): RowSet {
  let set = start;
  for (const step of steps) {
    if (countRows(set) === 0) return set;
    context.meter.purpose = step;
    if (step.kind === 'condition') set = withCondition(context, step, set);
    else if (step.kind === 'any') {
      const sets = step.steps.map((inner) => rowsOfSteps(context, inner.steps, rows, set));
      const united = sets.length === 1 ? sets[0]! : uniteRows(context.meter, sets, rows);
      set = step.isNegated ? subtractRows(context.meter, set, united, rows) : united;
    } else {
      const related = step.kind === 'table' ? rowsAround(context, step, rows, set) : rowsLinking(context, step, set);
      set = intersectRows(context.meter, set, related);
    }
  }
  return set;
}

/**
 * The rows that have a related row in a to-many relation that matches the node. May include rows that are not in `set`.
 */
function rowsAround(context: Context, node: TableNode, rows: number, set: RowSet): RowSet {
  const { meter } = context;
  const { table } = locate(context.collection, node.path)!.steps.at(-1) as ManyStep;
  let start = allRows(table.rows);
  if (isWorthNarrowing(countRows(set), table.rows, node)) {
    const children = childCount(meter, table, set);
    if (isWorthNarrowing(children, table.rows, node)) start = childrenOf(meter, table, set, children);
  }
  const inside = rowsOfSteps(context, node.steps, table.rows, start);
  const parents = parentRows(meter, table, inside, rows);
  if (!holdsForNulls(node)) return parents;
  return uniteRows(meter, [parents, childlessRows(meter, table, rows)], rows);
}

/** Whether to narrow a relation of `all` rows to its `related` rows. */
function isWorthNarrowing(related: number, all: number, { ns }: TableNode | LinkNode): boolean {
  return related * NARROWING_GAIN <= all && 2 * related * COST.joined <= ns;
}

/** The rows whose link points at a record that matches the node. May include rows that are not in `set`. */
function rowsLinking(context: Context, node: LinkNode, set: RowSet): RowSet {
  const { meter } = context;
  const { index, link } = locateField(context.collection, node.path);
  if (!link) throw new Error(`a plan joins through ${node.path.join('__')}, which is no link`);
  const { rows } = link.to();
  const isNarrowed = isWorthNarrowing(countRows(set), rows, node);
  const start = isNarrowed ? linkedRows(meter, index, link, set) : allRows(rows);
  const linked = rowsOfSteps(context, node.steps, rows, start);
  const isNullIncluded = holdsForNulls(node);
  const isByRows = 2 * countRows(set) * rowLinkNs(link) <= codesLinkingNs(link, countRows(linked));
  if (isNarrowed || isByRows || (isNullIncluded && !link.targets)) {
    return linkingRows(meter, index, link, { from: set, linked, isNullIncluded });
  }
  return rowsOfCodeSet(meter, index, codesPointingAt(meter, index, link, linked, isNullIncluded));
}

function withCondition(context: Context, step: ConditionStep, set: RowSet): RowSet {
  const { meter, form } = context;
  const { index } = locateField(context.collection, step.path);
  if (step.codes) return rowsOfCodesIn(meter, index, step.codes, set);
  const lookup = lookupNamed(step.lookup)!;
  if (lookup.pair) return rowsOfPairs(context, step, lookup.pair, set);
  // A pattern can be slow on any text, so it never runs within a budget.
  if (lookup.pace === 'pattern') meter.foresee(Infinity);
  const search = lookup.search?.(step.operand);
  if (search && scanRowsNs(lookup, index, countRows(set)) * ROW_CHECK_GAIN <= step.ns) {
    return { kind: 'list', rows: scanRows(context, index, lookup, search, listRows(meter, set)) };
  }
  const withWord = search && codesWithWord(context, index, lookup, search);
  if (withWord) return rowsOfCodeBits(meter, index, withWord, set);
  meter.spend(valuesNs(step.operand) + urlsRead(lookup, index, form) * COST.url);
  const codes = lookup.codes(index.dictionary, step.operand, form) ?? scanCodes(context, index, lookup, search!);
  return rowsOfCodesIn(meter, index, codes, set);
}

/** The rows of a set whose values in two columns match together. A row without one of them does not match. */
function rowsOfPairs(
  { meter, collection }: Context,
  { path, operand }: ConditionStep,
  { other, matcherOf }: NonNullable<Lookup['pair']>,
  set: RowSet,
): RowSet {
  const { dictionary: first, codeAt: firstCode } = locateField(collection, path).index;
  const { dictionary: second, codeAt: secondCode } = locateField(collection, [...path.slice(0, -1), other]).index;
  const matches = matcherOf(operand);
  const rows = listRows(meter, set);
  meter.spend(rows.length * COST.pair);
  const hits = new Uint32Array(rows.length);
  let length = 0;
  for (const row of rows) {
    const [a, b] = [firstCode(row), secondCode(row)];
    const isHit = a < first.fitting && b < second.fitting && matches(first.numbers![a]!, second.numbers![b]!);
    if (isHit) hits[length++] = row;
  }
  return { kind: 'list', rows: hits.subarray(0, length) };
}
