// A plan for people and their programs: the order of the steps, how each finds its rows and what that costs, as a tree
// of lines and as plain data for JSON. Reads plain data only, runs nothing.
import type { ConditionStep } from './conditionStep.ts';
import type { Walk } from './firstRows.ts';
import type { LinkNode, Plan, PlanStep, TableNode } from './plan.ts';
import type { Operand } from '../query/values.ts';

/** Operand values shown before the rest is only counted, and characters shown of each. */
const VALUES_SHOWN = 5;
const CHARACTERS_SHOWN = 60;

/** A plan as lines, each ended by a line feed; steps in the order in which they run. Cost: the plan's steps. */
export function explain(plan: Plan): string {
  const place = plan.isHeavy && !plan.walk ? 'in the pool' : 'inline';
  const { offset, limit } = plan.page;
  const head = `${plan.collection}: at most ${rows(plan.node.estimate)}, offset ${offset}, limit ${limit}, about ${plan.cost} us, ${place}`;
  if (plan.isEmpty) return `${head}\n  nothing: a filter is wrong\n`;
  const steps = plan.node.steps.flatMap((step) => lines(step, '  '));
  const excluded = plan.excluded.flatMap((node) => ['  except', ...node.steps.flatMap((step) => lines(step, '    '))]);
  const body = steps.length + excluded.length === 0 ? ['  all records'] : [...steps, ...excluded];
  return [head, ...body, ...viewLines(plan), ''].join('\n');
}

/**
 * One step as data: a condition, or conditions on related rows, with the members of plan.ts under names for clients.
 * `scanBytes` is what a search costs, see `Lookup.scanCost`: what is folded or matched with a regular expression counts
 * several times.
 */
export type ExplainedStep =
  | {
      readonly kind: 'condition';
      readonly field: string;
      readonly lookup: string;
      readonly values: readonly string[];
      readonly valueCount: number;
      readonly access: string;
      readonly estimate: number;
      readonly scanBytes: number;
      readonly rowsGathered: number;
    }
  | {
      readonly kind: 'relation';
      readonly relation: string;
      readonly to?: string;
      readonly estimate: number;
      readonly reaches: number;
      readonly joinSteps: number;
      readonly isNarrowed: boolean;
      readonly steps: readonly ExplainedStep[];
    };

/**
 * A plan as data: `estimate` bounds the records found, `microseconds` is the cost about, `except` has the steps of each
 * negated condition. `walk` says by what and among how many rows, about and at most, the page is looked for before all
 * rows that match are found; null where it is not. `after` is a text, since it may be no number that JSON knows.
 */
export interface ExplainedPlan {
  readonly collection: string;
  readonly estimate: number;
  readonly microseconds: number;
  readonly isHeavy: boolean;
  readonly isEmpty: boolean;
  readonly steps: readonly ExplainedStep[];
  readonly except: readonly (readonly ExplainedStep[])[];
  readonly ordering: readonly string[];
  readonly after: string | null;
  readonly offset: number;
  readonly limit: number;
  readonly facets: readonly string[];
  readonly walk: Pick<Walk, 'by' | 'rows' | 'rowsMax'> | null;
}

/** A plan as data that JSON can hold; of many or long values the first. Source: A68. Cost: the plan's steps. */
export function explained(plan: Plan): ExplainedPlan {
  const { collection, node, excluded, cost, isHeavy, isEmpty, page, walk } = plan;
  const { order, after, offset, limit, facets } = page;
  return {
    collection,
    estimate: node.estimate,
    microseconds: cost,
    isHeavy,
    isEmpty,
    steps: node.steps.map(explainedStep),
    except: excluded.map(({ steps }) => steps.map(explainedStep)),
    ordering: order.map(({ path, isDescending }) => `${isDescending ? '-' : ''}${path.join('__')}`),
    after: after === undefined ? null : String(after),
    offset,
    limit,
    facets: facets.map(({ name }) => name),
    walk: walk ? { by: walk.by, rows: walk.rows, rowsMax: walk.rowsMax } : null,
  };
}

function explainedStep(step: PlanStep): ExplainedStep {
  if (step.kind === 'condition') {
    const { kind, path, lookup, operand, access, estimate, scanBytes, rowsGathered } = step;
    const values = shownValues(operand);
    const valueCount = operand.values.length;
    return { kind, field: path.join('__'), lookup, values, valueCount, access, estimate, scanBytes, rowsGathered };
  }
  const { estimate, reaches, joinSteps, isNarrowed } = step;
  const named =
    step.kind === 'table' ? { relation: step.table.join('__') } : { relation: step.link.join('__'), to: step.to };
  const steps = step.steps.map(explainedStep);
  return { kind: 'relation', ...named, estimate, reaches, joinSteps, isNarrowed, steps };
}

function viewLines({ page: { order, after, facets }, walk, isHeavy }: Plan): readonly string[] {
  const keys = order.map(({ path, isDescending }) => `${path.join('__')}${isDescending ? ' descending' : ''}`);
  const ordered = keys.length > 0 ? [`  ordered by ${keys.join(', ')}, then by id`] : [];
  const start = after === undefined ? [] : [`  from behind id ${after}`];
  const otherwise = isHeavy ? 'all rows in the pool' : 'all rows';
  const walked = walk
    ? [`  page among about ${walk.rows} rows looked at, at most ${walk.rowsMax}; else ${otherwise}`]
    : [];
  return [...walked, ...ordered, ...start, ...facets.map(({ name }) => `  counted by ${name}`)];
}

function lines(step: PlanStep, indent: string): readonly string[] {
  if (step.kind === 'condition') return [indent + conditionLine(step)];
  const asked = step.isNarrowed ? ', asked of the rows left' : '';
  const head = `${indent}${relationOf(step)}: at most ${rows(step.estimate)}${asked}`;
  return [head, ...step.steps.flatMap((inner) => lines(inner, `${indent}  `))];
}

function relationOf(step: TableNode | LinkNode): string {
  if (step.kind === 'table') return `one row of ${step.table.join('__')}`;
  return `at most ${rows(step.reaches)} that link by ${step.link.join('__')} to ${step.to}`;
}

function conditionLine({ path, lookup, operand, access, estimate, scanBytes }: ConditionStep): string {
  const scanned = scanBytes > 0 ? `, at the cost of ${scanBytes} bytes of text` : '';
  return `${path.join('__')} ${lookup} ${valuesOf(operand)}: ${access}, ${rows(estimate)}${scanned}`;
}

function valuesOf(operand: Operand): string {
  const { kind, values } = operand;
  const shown = shownValues(operand).map((short) => (kind === 'text' ? JSON.stringify(short) : short));
  const more = values.length > VALUES_SHOWN ? `, ... ${values.length} values` : '';
  return shown.length === 0 ? 'no value' : shown.join(', ') + more;
}

function shownValues({ values }: Operand): readonly string[] {
  return values
    .slice(0, VALUES_SHOWN)
    .map((value) => (value.length > CHARACTERS_SHOWN ? `${value.slice(0, CHARACTERS_SHOWN)}...` : value));
}

function rows(count: number): string {
  return count === 1 ? '1 row' : `${count} rows`;
}
