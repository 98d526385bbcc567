import { describe, expect, test } from 'vitest';
import { PRESENTATIONS } from '../../../../engine/schema/browse.ts';
import { collectionNamed } from '../../../../engine/schema/catalogue.ts';
import type { Field } from '../../../../engine/schema/types.ts';
import { firstRecord } from '../../../support/samplePages.ts';

const words = (text = ''): readonly string[] => text.split(' ').filter(Boolean);
const documented = (name: string): ReadonlyMap<string, Field> =>
  new Map(collectionNamed(name)!.fields.map((field) => [field.name, field]));
/** The field at the end of a filter, through embedded records and links. */
const endOf = (fields: readonly Field[], [first, ...rest]: readonly string[]): Field | undefined => {
  const field = fields.find(({ name }) => name === first);
  if (!field || rest.length === 0) return field;
  if ('to' in field) return endOf([...documented(field.to).values()], rest);
  return 'fields' in field ? endOf(field.fields, rest) : undefined;
};

describe.each(Object.entries(PRESENTATIONS))('%s', (name, { columns, label, usedBy = [], facts = {}, groups }) => {
  const sample = JSON.parse(firstRecord(name)) as Readonly<Record<string, unknown>>;

  test('is a collection, and adds to its declaration', () => {
    expect(collectionNamed(name)?.name).toBe(name);
    expect([columns, label].filter((text) => text !== undefined).map(words)).not.toContainEqual([]);
    expect(columns ?? label ?? usedBy[0] ?? Object.keys(facts)[0]).toBeDefined();
  });

  test('has documented columns, each once and none its id', () => {
    const all = words(columns);
    expect(all.filter((key) => !documented(name).has(key))).toEqual([]);
    expect(new Set(all).size).toBe(all.length);
    expect(all).not.toContain(collectionNamed(name)!.idField);
  });

  test('is named by single values that its records have', () => {
    for (const key of words(label)) {
      expect(['scalar', undefined]).toContain(documented(name).get(key)?.kind);
      expect(['string', 'number']).toContain(typeof sample[key]);
    }
  });

  test('has facts at the end of documented fields, and groups that its records link to', () => {
    for (const path of Object.values(facts).flatMap(words)) {
      expect([path, endOf([...documented(name).values()], path.split('__'))?.kind]).toEqual([
        path,
        expect.stringMatching(/^(?:links?|records)$/),
      ]);
    }
    for (const key of words(groups)) expect(documented(name).get(key)?.kind).toBe('links');
  });

  test('is used by filters that lead to its kind', () => {
    for (const [collection, key] of usedBy) {
      expect(endOf([...documented(collection).values()], key.split('__'))).toMatchObject({ kind: 'link', to: name });
    }
  });
});

test('documents no record name that only the sample has', () => {
  const undocumented = Object.entries(PRESENTATIONS).flatMap(([name, { label }]) =>
    words(label).flatMap((key) => (documented(name).has(key) ? [] : [`${name}.${key}`])),
  );
  expect(undocumented).toEqual(['discoveryserviceids.serviceId', 'drsdatasets.drsId', 'imagedetails.caption']);
});
