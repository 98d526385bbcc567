// The parameter `fields`: which top-level keys of its records an answer is cut to,
// and which names it does not know.
import type { TopLevelKeys } from '../column/outline.ts';
import type { Parameter } from './form.ts';
import { lastPlaceOf, namesAt } from './paging.ts';
import { unknownField, type Problem } from './problems.ts';
import { nearestName, SUGGESTIONS_MAX } from './suggest.ts';

/** The parameter's name (design: Parameters). */
export const FIELDS_PARAMETER = 'fields';

/** A name that has no effect: a parameter, or a name inside the value of one. */
export type IgnoredName = string | readonly [parameter: string, name: string];

/**
 * What a request asks for. `keys` is undefined where records are served whole; with unknown names only it is empty.
 * `at` is the place of the parameter that counts, -1 without one.
 */
export interface FieldsAsked {
  readonly at: number;
  readonly keys: ReadonlySet<string> | undefined;
  readonly unknown: readonly string[];
}

const NOT_ASKED: FieldsAsked = { at: -1, keys: undefined, unknown: [] };

/**
 * Reads the last `fields`: names separated by commas, trimmed, empty ones left out; without any name records are whole.
 * `known` are the keys that records of the collection can have. Cost: the value and the keys. Source: A61.
 */
export function fieldsOf(parameters: readonly Parameter[], known: TopLevelKeys): FieldsAsked {
  const at = lastPlaceOf(parameters, FIELDS_PARAMETER);
  if (at < 0) return NOT_ASKED;
  const names = new Set(namesAt(parameters, at));
  if (names.size === 0) return { at, keys: undefined, unknown: [] };
  const isKey = new Set([...known.fields, ...known.others]);
  const asked = [...names];
  return {
    at,
    keys: new Set(asked.filter((name) => isKey.has(name))),
    unknown: asked.filter((name) => !isKey.has(name)),
  };
}

/**
 * Why strict mode refuses the unknown names of `fields`, each with the nearest known key (A28). Cost: see
 * `nearestName`.
 */
export function fieldsProblem({ unknown }: FieldsAsked, { fields, others }: TopLevelKeys): Problem {
  const known = [...fields, ...others];
  const messages = unknown.map((name, i) =>
    unknownField(name, i < SUGGESTIONS_MAX ? nearestName(name, known) : undefined),
  );
  return { key: FIELDS_PARAMETER, messages };
}
