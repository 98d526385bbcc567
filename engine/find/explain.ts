// Explains a plan, as a tree of lines for people and as plain data for JSON: the order of the steps, and how many rows
// each is expected to leave.
import type { Purpose } from './counters.ts';
import type { ConditionStep } from './conditionStep.ts';
import type { Plan, PlanStep } from './plan.ts';
import { isOptionName } from '../query/path.ts';
import type { Operand } from '../query/values.ts';

/** Operand values shown, after which the rest is only counted, and characters shown of each. */
const VALUES_SHOWN = 5;
const CHARACTERS_SHOWN = 60;

/** A plan as lines, each with a line feed at its end. Steps are in execution order. Cost: the plan's steps. */
export function explain(plan: Plan): string {
  const { offset, limit } = plan.page;
  const head = `${plan.collection}: about ${rows(plan.node.estimate)}, offset ${offset}, limit ${limit}`;
  if (plan.isEmpty) return `${head}\n  nothing: a filter is wrong\n`;
  const steps = plan.node.steps.flatMap((step) => lines(step, '  '));
  const excluded = plan.excluded.flatMap((node) => ['  except', ...node.steps.flatMap((step) => lines(step, '    '))]);
  const body = steps.length + excluded.length === 0 ? ['  all records'] : [...steps, ...excluded];
  return [head, ...body, ...viewLines(plan), ''].join('\n');
}

/** The name of a part of a list as a client writes it: `title__contains`. */
export function purposeName({ path, lookup }: Purpose): string {
  return shownPath([...path, ...(lookup === undefined ? [] : [lookup])]);
}

function shownPath(path: readonly string[]): string {
  return path.filter((name) => !isOptionName(name)).join('__');
}

/**
 * One step as data: a condition, or conditions on related rows. `estimate` is the estimated number of rows that it
 * leaves.
 */
export type ExplainedStep =
  | {
      readonly kind: 'condition';
      readonly field: string;
      readonly lookup: string;
      readonly values: readonly string[];
      readonly valueCount: number;
      readonly estimate: number;
    }
  | {
      readonly kind: 'relation';
      readonly relation: string;
      readonly to?: string;
      readonly estimate: number;
      readonly steps: readonly ExplainedStep[];
    }
  | {
      /** One of the sets must match, in `none` no set may. */
      readonly kind: 'any' | 'none';
      readonly estimate: number;
      readonly sets: readonly (readonly ExplainedStep[])[];
    };

/** A plan in a form for JSON. */
export interface ExplainedPlan {
  readonly collection: string;
  readonly estimate: number;
  readonly isEmpty: boolean;
  readonly steps: readonly ExplainedStep[];
  /** The steps of each negated condition. */
  readonly except: readonly (readonly ExplainedStep[])[];
  readonly ordering: readonly string[];
  /** A text, because the id may be infinite, which JSON cannot express. */
  readonly after: string | null;
  readonly offset: number;
  readonly limit: number;
  readonly facets: readonly string[];
}

/** A plan as data for JSON. Many or long values are cut. Source: A68. Cost: the plan's steps. */
export function explained({ collection, node, excluded, isEmpty, page }: Plan): ExplainedPlan {
  const { order, after, offset, limit, facets } = page;
  return {
    collection,
    estimate: node.estimate,
    isEmpty,
    steps: node.steps.map(explainedStep),
    except: excluded.map(({ steps }) => steps.map(explainedStep)),
    ordering: order.map(({ path, isDescending }) => `${isDescending ? '-' : ''}${path.join('__')}`),
    after: after === undefined ? null : String(after),
    offset,
    limit,
    facets: facets.map(({ name }) => name),
  };
}

function explainedStep(step: PlanStep): ExplainedStep {
  const { path, estimate } = step;
  if (step.kind === 'condition') {
    const { lookup, operand } = step;
    const values = shownValues(operand);
    return { kind: 'condition', field: shownPath(path), lookup, values, valueCount: operand.values.length, estimate };
  }
  if (step.kind === 'any') {
    const sets = step.steps.map((set) => set.steps.map(explainedStep));
    return { kind: step.isNegated ? 'none' : 'any', estimate, sets };
  }
  const to = step.kind === 'link' ? { to: step.to } : {};
  return { kind: 'relation', relation: shownPath(path), ...to, estimate, steps: step.steps.map(explainedStep) };
}

function viewLines({ page: { order, ranking, after, facets } }: Plan): readonly string[] {
  const keys = order.map(({ path, isDescending }) => `${path.join('__')}${isDescending ? ' descending' : ''}`);
  const ordered = keys.length > 0 ? [`  ordered by ${keys.join(', ')}, then by id`] : [];
  const ranked = ranking ? ['  ordered by how well records match the search, then by id'] : [];
  const start = after === undefined ? [] : [`  after id ${after}`];
  return [...ordered, ...ranked, ...start, ...facets.map(({ name }) => `  counted by ${name}`)];
}

function lines(step: PlanStep, indent: string): readonly string[] {
  if (step.kind === 'condition') return [indent + conditionLine(step)];
  if (step.kind === 'any') {
    const sets = step.steps.flatMap((set) => [
      `${indent}  either`,
      ...set.steps.flatMap((inner) => lines(inner, `${indent}    `)),
    ]);
    return [
      `${indent}about ${rows(step.estimate)} by ${step.isNegated ? 'none' : 'one'} of ${step.steps.length}`,
      ...sets,
    ];
  }
  const path = shownPath(step.path);
  const relation = step.kind === 'table' ? `with a row of ${path}` : `that link by ${path} to ${step.to}`;
  const head = `${indent}about ${rows(step.estimate)} ${relation}`;
  return [head, ...step.steps.flatMap((inner) => lines(inner, `${indent}  `))];
}

function conditionLine({ path, lookup, operand, codes, estimate }: ConditionStep): string {
  return `${shownPath(path)} ${lookup} ${valuesOf(operand)}: ${codes ? '' : 'about '}${rows(estimate)}`;
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
