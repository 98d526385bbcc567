import type { Field } from '../../engine/schema/types.ts';
import type { Random } from '../support/random.ts';

const LOOKUPS = ['', '__exact!', '__in', '__in!', '__isnull', '__isnull!', '__gt', '__lte!', '__regex', '__regex!'];

/**
 * Draws parameters at or just beyond one limit of a query: number of parameters, filters, regular expressions, members,
 * names or steps. `roots` are the fields that a query may start from.
 */
export function randomExcess(random: Random, roots: readonly Field[]): string[] {
  const excess = random.integer(0, 2);
  const scalars = roots.filter((field) => field.kind === 'scalar').map(({ name }) => encodeURIComponent(name));
  const many = (count: number, one: (i: number) => string): string[] => Array.from({ length: count }, (_, i) => one(i));
  const keys = random.shuffled(scalars.flatMap((name) => LOOKUPS.map((lookup) => name + lookup)));
  const list = (count: number): string => many(count, () => random.pick(['1', '', '+', 'x'])).join(',');
  const name = encodeURIComponent(random.pick(roots).name);
  return random.pick<() => string[]>([
    () => many(1010 + excess * 15, (i) => `x${i}`),
    () => ['&'.repeat(1000 + excess * 15)],
    () => keys.slice(0, 64 + excess).map((key) => `${key}=1`),
    () => {
      const regexes = keys.filter((key) => key.includes('regex'));
      return regexes.slice(0, 8 + excess).map((key) => `${key}=.`);
    },
    () => [`${name}__${random.pick(['in', 'in!', 'range'])}=${list(16_383 + excess)}`],
    () => many(2, () => `${name}__in=${list(8192 + excess)}`),
    () => [
      `${random.pick(['fields', 'ordering', 'facets'])}=${many(1023 + excess, () => random.pick(['title', 'x', 'ob_id'])).join(',')}`,
    ],
    () => [`${`${name}__`.repeat(5 + excess)}${name}=1`],
  ])();
}
