// Prints a plan as a tree for people: the order of the steps, how each finds its rows and what that costs.
// Reads plain data only, runs nothing. Called by the command line and by tests.
import type { ConditionStep, LinkNode, Plan, PlanStep, TableNode } from './plan.ts';
import type { Operand } from './values.ts';

/** Operand values shown before the rest is only counted, and characters shown of each. */
const VALUES_SHOWN = 5;
const CHARACTERS_SHOWN = 60;

/** A plan as lines, each ended by a line feed; steps in the order in which they run. Cost: the plan's steps. */
export function explain(plan: Plan): string {
  const place = plan.isHeavy ? 'in the pool' : 'inline';
  const head = `${plan.collection}: at most ${rows(plan.node.estimate)}, offset ${plan.offset}, limit ${plan.limit}, about ${plan.cost} us, ${place}`;
  if (plan.isEmpty) return `${head}\n  nothing: a filter is wrong\n`;
  const steps = plan.node.steps.flatMap((step) => lines(step, '  '));
  const excluded = plan.excluded.flatMap((node) => ['  except', ...node.steps.flatMap((step) => lines(step, '    '))]);
  const body = steps.length + excluded.length === 0 ? ['  all records'] : [...steps, ...excluded];
  return [head, ...body, ...viewLines(plan), ''].join('\n');
}

function viewLines({ order, after, facets }: Plan): readonly string[] {
  const keys = order.map(({ path, isDescending }) => `${path.join('__')}${isDescending ? ' descending' : ''}`);
  const ordered = keys.length > 0 ? [`  ordered by ${keys.join(', ')}, then by id`] : [];
  const start = after === undefined ? [] : [`  from behind id ${after}`];
  return [...ordered, ...start, ...facets.map(({ name }) => `  counted by ${name}`)];
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
  const scanned = scanBytes > 0 ? `, ${scanBytes} bytes of text` : '';
  return `${path.join('__')} ${lookup} ${valuesOf(operand)}: ${access}, ${rows(estimate)}${scanned}`;
}

function valuesOf({ kind, values }: Operand): string {
  const shown = values.slice(0, VALUES_SHOWN).map((value) => {
    const short = value.length > CHARACTERS_SHOWN ? `${value.slice(0, CHARACTERS_SHOWN)}...` : value;
    return kind === 'text' ? JSON.stringify(short) : short;
  });
  const more = values.length > VALUES_SHOWN ? `, ... ${values.length} values` : '';
  return shown.length === 0 ? 'no value' : shown.join(', ') + more;
}

function rows(count: number): string {
  return count === 1 ? '1 row' : `${count} rows`;
}
