// Executes a plan: sets of rows per table, carried up to the records, less what is excluded, and the page's part of
// them. Allocates sets only; never reads a record's bytes.
import {
  countRows,
  allRows,
  complement,
  countSelected,
  intersect,
  listed,
  NO_ROWS,
  rankOf,
  select,
  union,
} from '../index/rowset.ts';
import type { RowSet, Selection } from '../index/rowset.ts';
import { codesLinkingTo, joinSteps, rowsLinkedFrom, rowsLinkingTo } from '../index/join.ts';
import { childRows, parentsOf, rowAfterId, type CollectionIndex } from '../index/table.ts';
import { newCounters, type Counters } from './counters.ts';
import { facetCounts, type FacetCounts } from './facetCounts.ts';
import { walkedRows } from './firstRows.ts';
import { isWorthNarrowing, relatedRowsMax, rowCheckBytes } from './fewRows.ts';
import { lookupNamed } from '../query/lookups.ts';
import { holdsForNulls, parentsWithoutRows } from './nulls.ts';
import { orderedPage } from './orderedPage.ts';
import { locate, locateField, type ManyStep } from '../query/path.ts';
import { rowsOfCodesIn, rowsOfCodeSet } from './postings.ts';
import type { ConditionStep } from './conditionStep.ts';
import type { LinkNode, Plan, PlanStep, TableNode } from './plan.ts';
import { scanCodes, scanRows, type ScanContext } from './scan.ts';

/**
 * What was found of a list: the exact number of records that match, those of the page in order, which place of the list
 * the first of them has, and the facets that were asked for.
 */
export interface Hits {
  readonly count: number;
  readonly rows: Selection;
  readonly offset: number;
  readonly facets: readonly FacetCounts[];
}

/** The links of the rows at hand are followed where these are this many times fewer than what a join looks at. */
const LINK_CHECK_GAIN = 4;

const NEVER = (): boolean => false;

interface Context extends ScanContext {
  readonly collection: CollectionIndex;
}

/**
 * Runs a plan that was made for this collection. `isCancelled` is polled per slice of a scan, before each step and
 * pass; a cancelled run answers undefined. Cost: that of `walkedPage`, or of `findRows` and `hitsOf`.
 */
export function execute(
  collection: CollectionIndex,
  plan: Plan,
  counters: Counters = newCounters(),
  isCancelled: () => boolean = NEVER,
): Hits | undefined {
  const walked = walkedPage(collection, plan, counters);
  if (walked) return walked;
  const set = findRows(collection, plan, counters, isCancelled);
  return set && hitsUnless(collection, set, plan, counters, isCancelled);
}

/**
 * The page of a plan that has a walk, found without all rows that match; undefined where there is none, or it is given
 * up. Cost: the rows that are looked at, of which the walk has a limit: some 20 us.
 */
export function walkedPage(
  collection: CollectionIndex,
  plan: Plan,
  counters: Counters = newCounters(),
): Hits | undefined {
  const { walk, page } = plan;
  if (!walk) return undefined;
  const found = walkedRows(locateField(collection, walk.path).index, walk, page, counters);
  if (!found) return undefined;
  counters.rowsTouched += countSelected(found.rows);
  return { ...found, offset: page.offset, facets: [] };
}

/**
 * All rows that match a plan, whatever its page; undefined when cancelled. Cost: the rows that the conditions match,
 * and what they scan.
 */
export function findRows(
  collection: CollectionIndex,
  plan: Plan,
  counters: Counters = newCounters(),
  isCancelled: () => boolean = NEVER,
): RowSet | undefined {
  return plan.isEmpty ? NO_ROWS : matching({ collection, form: plan.form, counters, isCancelled }, plan);
}

/**
 * The page of a plan from all its rows in the collection, in order, and the facets. Cost: the rows of the page, the
 * offset nothing but a rank select; with an order or facets that of `orderedPage` and `facetCounts`.
 */
export function hitsOf(
  collection: CollectionIndex,
  set: RowSet,
  plan: Pick<Plan, 'page' | 'form'>,
  counters: Counters = newCounters(),
): Hits {
  return hitsUnless(collection, set, plan, counters, NEVER)!;
}

/** The same, unless it is cancelled: undefined then. Polled once in a slice of rows that are ordered or counted. */
export function hitsUnless(
  collection: CollectionIndex,
  set: RowSet,
  { page, form }: Pick<Plan, 'page' | 'form'>,
  counters: Counters,
  isCancelled: () => boolean,
): Hits | undefined {
  const { order, after, limit, facets } = page;
  const view = { form, counters, isCancelled, facetCount: facets.length };
  const offset = after === undefined ? page.offset : rankOf(set, rowAfterId(collection, after));
  const rows =
    order.length === 0 ? select(set, offset, limit) : orderedPage(collection, set, { order, offset, limit }, view);
  if (!rows) return undefined;
  counters.rowsTouched += countSelected(rows);
  const counted: FacetCounts[] = [];
  for (const facet of facets) {
    const counts = facetCounts(collection, facet, set, view);
    if (!counts) return undefined;
    counted.push(counts);
  }
  return { count: countRows(set), rows, offset, facets: counted };
}

function matching(context: Context, plan: Plan): RowSet | undefined {
  const { rows } = context.collection;
  let set = rowsOfSteps(context, plan.node.steps, { rows, start: allRows(rows) });
  for (const node of plan.excluded) {
    if (!set || countRows(set) === 0) return set;
    const dropped = rowsOfSteps(context, node.steps, { rows, start: isReady(node) ? allRows(rows) : set });
    set = dropped && intersect(set, complement(dropped, rows));
  }
  return set;
}

/** The table at hand: how many rows it has, and those to start from. */
interface Ground {
  readonly rows: number;
  readonly start: RowSet;
}

/** Whether the rows to drop lie ready, so that a pass over those that are left would be more than what is planned. */
function isReady({ steps }: TableNode): boolean {
  return steps.every((step) => step.kind === 'condition' && step.access !== 'row check' && step.rowsGathered === 0);
}

/** The rows of `start` for which every step holds; undefined when cancelled. */
function rowsOfSteps(context: Context, steps: readonly PlanStep[], { rows, start }: Ground): RowSet | undefined {
  let set: RowSet | undefined = start;
  for (const step of steps) {
    if (!set || countRows(set) === 0) return set;
    if ((step.kind !== 'condition' || set !== start) && context.isCancelled()) return undefined;
    set = step.kind === 'condition' ? withCondition(context, step, set) : withRelated(context, step, set, rows);
  }
  return set;
}

function withRelated(context: Context, node: TableNode | LinkNode, set: RowSet, rows: number): RowSet | undefined {
  const found =
    node.kind === 'table' ? rowsAround(context, node, { rows, start: set }) : rowsLinking(context, node, set);
  return found && intersect(set, found);
}

/**
 * Whether only `related` rows are asked of `all`: as planned, or since fewer rows are left than the plan could know, by
 * no more steps than it says.
 */
function asksRelated(node: TableNode | LinkNode, related: number, all: number): boolean {
  const { isNarrowed, estimate, joinSteps: joined, scanBytes } = node;
  if (isNarrowed) return true;
  const most = node.kind === 'link' ? ownJoinSteps(node) : estimate;
  return related <= Math.min(most, estimate + joined + scanBytes) && isWorthNarrowing(related, all);
}

/** What of a plan's join steps is for the link itself, not for those behind it. */
function ownJoinSteps({ joinSteps: joined, steps }: LinkNode): number {
  return steps.reduce((left, step) => left - (step.kind === 'condition' ? 0 : step.joinSteps), joined);
}

/**
 * The rows at hand that have a row in a to-many relation for which the node holds; others of the table may be among
 * them.
 */
function rowsAround(context: Context, node: TableNode, { rows, start: set }: Ground): RowSet | undefined {
  const { table } = locate(context.collection, node.table)!.steps.at(-1) as ManyStep;
  const isNarrowed = asksRelated(node, relatedRowsMax({ kind: 'many', table }, countRows(set)), table.rows);
  const start = isNarrowed ? childRows(table, set) : allRows(table.rows);
  const inside = rowsOfSteps(context, node.steps, { rows: table.rows, start });
  if (!inside || context.isCancelled()) return undefined;
  const { counters } = context;
  counters.rowsTouched += countRows(inside);
  counters.joinSteps += countRows(isNarrowed ? start : inside);
  const parents = parentsOf(table, inside, rows);
  if (!holdsForNulls(node)) return parents;
  counters.rowsTouched += rows;
  counters.joinSteps += rows;
  return union([parents, parentsWithoutRows(table, rows)], rows);
}

/** The rows at hand whose link points at a record for which the node holds; others of the table may be among them. */
function rowsLinking(context: Context, node: LinkNode, set: RowSet): RowSet | undefined {
  const { index, link } = locateField(context.collection, node.link);
  if (!link) throw new Error(`a plan joins through ${node.link.join('__')}, which is no link`);
  const { rows } = link.to();
  const isNarrowed = asksRelated(node, countRows(set), rows);
  const start = isNarrowed ? rowsLinkedFrom(index, link, set) : allRows(rows);
  const linked = rowsOfSteps(context, node.steps, { rows, start });
  if (!linked || context.isCancelled()) return undefined;
  const { counters } = context;
  counters.rowsTouched += countRows(linked);
  const isNullIncluded = holdsForNulls(node);
  const steps = joinSteps(link, countRows(linked));
  if (isNarrowed || countRows(set) * LINK_CHECK_GAIN <= steps) {
    counters.joinSteps += countRows(set);
    return rowsLinkingTo(index, link, { from: set, linked, isNullIncluded });
  }
  counters.joinSteps += steps;
  return rowsOfCodeSet(context.counters, index, codesLinkingTo(index, link, linked, isNullIncluded));
}

function withCondition(context: Context, step: ConditionStep, set: RowSet): RowSet | undefined {
  const { index } = locateField(context.collection, step.path);
  const lookup = lookupNamed(step.lookup)!;
  if (step.access === 'row check' || (step.scanBytes > 0 && rowCheckBytes(step, index, countRows(set)) !== undefined)) {
    const rows = scanRows(context, index, lookup.search!(step.operand), listed(set));
    return rows && { kind: 'list', rows };
  }
  const codes =
    step.codes ??
    lookup.codes(index.dictionary, step.operand, context.form) ??
    scanCodes(context, index, lookup.search!(step.operand));
  return codes && rowsOfCodesIn(context.counters, index, codes, set);
}
