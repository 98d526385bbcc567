// Executes a plan: sets of rows per table, carried up to the records, less what is excluded, and the page's part of them.
// Allocates sets only; never reads a record's bytes. Called by serving threads and by the pool.
import { countRows, allRows, complement, eachRow, intersect, NO_ROWS, select, union } from '../index/rowset.ts';
import type { RowSet, Selection } from '../index/rowset.ts';
import { parentsOf, type CollectionIndex, type Table } from '../index/table.ts';
import { newCounters, type Counters } from './counters.ts';
import { lookupNamed } from './lookups.ts';
import { holdsForNulls, parentsWithoutRows } from './nulls.ts';
import { locate, locateField } from './path.ts';
import { rowsOfCodes } from './postings.ts';
import type { ConditionStep, Plan, TableNode } from './plan.ts';
import { scanCodes, scanRows, type ScanContext } from './scan.ts';

/** What a list shows: the exact number of records that match, and those of the page, ascending. */
export interface Listed {
  readonly count: number;
  readonly rows: Selection;
}

interface Context extends ScanContext {
  readonly collection: CollectionIndex;
}

/**
 * Runs a plan that was made for this collection. `isCancelled` is polled per slice of a scan; a cancelled run answers
 * undefined. Cost: that of `findRows` and of `pageOf`.
 */
export function execute(
  collection: CollectionIndex,
  plan: Plan,
  counters: Counters = newCounters(),
  isCancelled: () => boolean = () => false,
): Listed | undefined {
  const set = findRows(collection, plan, counters, isCancelled);
  return set && pageOf(set, plan, counters);
}

/**
 * All rows that match a plan, whatever its page; undefined when cancelled. Cost: the rows that the conditions match, and
 * what they scan.
 */
export function findRows(
  collection: CollectionIndex,
  plan: Plan,
  counters: Counters = newCounters(),
  isCancelled: () => boolean = () => false,
): RowSet | undefined {
  return plan.isEmpty ? NO_ROWS : matching({ collection, form: plan.form, counters, isCancelled }, plan);
}

/** The page of a plan from all its rows. Cost: the rows of the page; the offset costs nothing but a rank select. */
export function pageOf(set: RowSet, { offset, limit }: PageOfPlan, counters: Counters = newCounters()): Listed {
  const rows = select(set, offset, limit);
  counters.rowsTouched += countRows(rows);
  return { count: countRows(set), rows };
}

type PageOfPlan = Pick<Plan, 'offset' | 'limit'>;

function matching(context: Context, plan: Plan): RowSet | undefined {
  const { rows } = context.collection;
  let set = rowsOfNode(context, plan.node, allRows(rows));
  for (const node of plan.excluded) {
    if (!set || countRows(set) === 0) return set;
    const dropped = rowsOfNode(context, node, checksRows(node) ? set : allRows(rows));
    set = dropped && intersect(set, complement(dropped, rows));
  }
  return set;
}

/** Whether a tree looks at the rows that are left one by one; all others find the rows to drop without a pass over these. */
function checksRows({ steps }: TableNode): boolean {
  return steps.some((step) => step.kind === 'condition' && step.access === 'row check');
}

/** The rows of `start` for which every step holds; undefined when cancelled. */
function rowsOfNode(context: Context, node: TableNode, start: RowSet): RowSet | undefined {
  let set: RowSet | undefined = start;
  for (const step of node.steps) {
    if (!set || countRows(set) === 0) return set;
    set = step.kind === 'table' ? withChild(context, node, step, set) : withCondition(context, step, set);
  }
  return set;
}

function withChild(context: Context, parent: TableNode, child: TableNode, set: RowSet): RowSet | undefined {
  const table = tableOf(context, child.table);
  const rows = rowsOfNode(context, child, allRows(table.rows));
  if (!rows) return undefined;
  const parentRows = parent.table.length === 0 ? context.collection.rows : tableOf(context, parent.table).rows;
  context.counters.rowsTouched += countRows(rows);
  const parents = parentsOf(table, rows, parentRows);
  if (!holdsForNulls(child)) return intersect(set, parents);
  context.counters.rowsTouched += parentRows;
  return intersect(set, union([parents, parentsWithoutRows(table, parentRows)], parentRows));
}

function tableOf({ collection }: Context, path: readonly string[]): Table {
  return locate(collection, path)!.tables.at(-1)!.node.table;
}

function withCondition(context: Context, step: ConditionStep, set: RowSet): RowSet | undefined {
  const { index } = locateField(context.collection, step.path);
  const lookup = lookupNamed(step.lookup)!;
  if (step.access === 'row check') {
    const rows = scanRows(context, index, lookup.search!(step.operand), listed(set));
    return rows && { kind: 'list', rows };
  }
  const codes =
    lookup.codes(index.dictionary, step.operand, context.form) ??
    scanCodes(context, index, lookup.search!(step.operand));
  if (!codes) return undefined;
  const rows = rowsOfCodes(context.counters, index, codes);
  context.counters.rowsTouched += countRows(rows);
  return intersect(set, rows);
}

function listed(set: RowSet): Uint32Array {
  if (set.kind === 'list') return set.rows;
  const rows = new Uint32Array(countRows(set));
  let length = 0;
  eachRow(set, (row) => {
    rows[length++] = row;
  });
  return rows;
}
