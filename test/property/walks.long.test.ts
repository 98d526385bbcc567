import { describe, expect, test } from 'vitest';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { servedSample, targetOf, type Page } from '../conformance/sample.ts';
import { randomOf } from '../support/random.ts';

const SEED = 20_261_120;
const sample = servedSample();

async function walk(start: string, link: 'next' | 'previous'): Promise<readonly Page[]> {
  const pages = [await sample.page(start)];
  for (let at = pages[0]![link]; at !== null; at = pages.at(-1)![link]) pages.push(await sample.page(targetOf(at)));
  return pages;
}

describe(`links walk a collection exactly once (seed ${SEED})`, () => {
  const random = randomOf(SEED);
  const filters = ['', '', 'ob_id__in=&', 'ob_id!=5&', 'title__contains=a&', 'uuid__startswith!=a&'];
  const cases = COLLECTIONS.flatMap(({ name, idField, versions }) =>
    random.several(1, 3, () => ({
      idField,
      path: `/api/${random.pick(versions)}/${name}${random.pick(['/', '.json'])}`,
      query: `${random.pick(filters)}limit=${random.pick([1, 7, 50, 99, 100, 1000])}`,
    })),
  );

  test.each(cases)('$path?$query', async ({ idField, path, query }) => {
    const all = await sample.page(`${path}?${query.replace(/limit=\d+/, 'limit=100000')}`);
    const ids = all.results.map((record) => record[idField]);
    expect(ids).toEqual([...new Set(ids as number[])].sort((a, b) => a - b));
    const forth = await walk(`${path}?${query}`, 'next');
    expect(forth.flatMap(({ results }) => results.map((record) => record[idField]))).toEqual(ids);
    expect(forth.every(({ count }) => count === ids.length)).toBe(true);
    const last = forth.length > 1 ? targetOf(forth.at(-2)!.next) : `${path}?${query}`;
    const back = await walk(last, 'previous');
    expect(back.toReversed().flatMap(({ results }) => results.map((record) => record[idField]))).toEqual(ids);
  });
});
