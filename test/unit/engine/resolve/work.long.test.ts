// A guard: the cost of a path depends on its segments, not on the number of records. Counted in look-ups and rows,
// which no machine changes.
import { beforeEach, expect, test } from 'vitest';
import { Resolver } from '../../../../engine/resolve/resolver.ts';
import { CANDIDATES_MAX, LISTED_ROWS_MAX, resolving } from '../../../../engine/resolve/paths.ts';
import { listingMeasuring } from '../../../../engine/resolve/listing.ts';
import { indexesOf } from '../../../support/index.ts';

const PAGES = { baseUrl: 'http://a.example.org', template: undefined };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Observations, 100 to a project. Each has its own path, or all have the same one. */
function resolverOf(records: number, isOne = false): Resolver {
  const observations = Array.from({ length: records }, (_, i) => ({
    ob_id: i + 1,
    title: `t${i}`,
    publicationState: 'working',
    result_field: { dataPath: isOne ? '/a/one' : `/a/p${Math.floor(i / 100)}/data/${i}` },
  }));
  return new Resolver(indexesOf({ observations }));
}

const MANY = resolverOf(20_000);
const FEW = resolverOf(1000);

function workOf(resolver: Resolver, path: string): { readonly lookups: number; readonly rows: number } {
  const before = { ...resolving };
  expect(resolver.placed(bytes(path), PAGES)).toBeDefined();
  return { lookups: resolving.lookups - before.lookups, rows: resolving.rows - before.rows };
}

beforeEach(() => {
  resolving.lookups = 0;
  resolving.rows = 0;
});

test.each(['/a/p3/data/317/2020/01/file.nc', '/a/p3/data/317/', '/a/p3/nothing', '/b', '/'])(
  'costs for %s at 20,000 records what it costs at 1,000',
  (path) => {
    const work = workOf(MANY, path);
    expect(work).toEqual(workOf(FEW, path));
    expect(work.lookups).toBeLessThanOrEqual(2 * path.split('/').length);
    expect(work.rows).toBeLessThanOrEqual(1);
  },
);

test('costs two look-ups for each segment of a path, up to the limit, and none beyond', () => {
  expect(workOf(FEW, '/x'.repeat(128))).toEqual({ lookups: 256, rows: 0 });
  expect(FEW.placed(bytes('/x'.repeat(129)), PAGES)).toBeUndefined();
});

test('costs at most the limit of rows for a path that every record has', () => {
  expect(workOf(resolverOf(20_000, true), '/a/one').rows).toBe(CANDIDATES_MAX);
  expect(workOf(resolverOf(1000, true), '/a/one').rows).toBe(1000);
});

test('reads few rows a slice, and a piece, for a listing of paths that many records share', () => {
  const [paths, shared] = [100, 600];
  const observations = Array.from({ length: paths * shared }, (_, i) => ({
    ob_id: i + 1,
    publicationState: 'working',
    result_field: { dataPath: `/a/${i % paths}` },
  }));
  const resolver = new Resolver(indexesOf({ observations }));
  const most = LISTED_ROWS_MAX + 32 * shared;
  const rowsOf = <T>(work: () => T): T => {
    const before = resolving.rows;
    const done = work();
    expect(resolving.rows - before).toBeLessThanOrEqual(most);
    return done;
  };
  for (const listing of [resolver.allPlaced(PAGES), resolver.completeness()]) {
    const measuring = listingMeasuring(listing);
    let body = rowsOf(measuring);
    while (!body) body = rowsOf(measuring);
    for (let at = 0; at < body.bytes;) at += rowsOf(() => body.pieceAt(at)).length;
  }
  expect(resolving.rows).toBeGreaterThan(2 * most);
});

test('gives a path with any line separator no line', () => {
  const breaks = ['\n', '\u0085', '\u009f', '\u2028', '\u2029'];
  const observations = ['', ...breaks].map((text, i) => ({ ob_id: i + 1, result_field: { dataPath: `/a/b${text}c` } }));
  const listing = new Resolver(indexesOf({ observations })).completeness();
  const entries = Array.from({ length: listing.entries }, (_, i) => listing.entry(i)).filter((text) => text !== '');
  expect(entries.join('').match(/b.*c/gsu)).toEqual(['bc']);
});

test('writes few entries of a listing a slice, and a piece, including absent ones, and its writers check the clock', () => {
  const observations = Array.from({ length: 6000 }, (_, i) => ({
    ob_id: i + 1,
    result_field: { dataPath: `/${i < 3000 ? 'a' : 'b'}/${i}` },
  }));
  const resolver = new Resolver(indexesOf({ observations }));
  for (const { entry, ...listing } of [resolver.allPlaced(PAGES), resolver.completeness()]) {
    let written = 0;
    const few = <T>(work: () => T): T => {
      written = 0;
      const done = work();
      expect(written).toBeLessThanOrEqual(256);
      return done;
    };
    const counted = (i: number): string => {
      written++;
      return entry(i);
    };
    const measuring = listingMeasuring({ ...listing, entry: counted });
    let body = few(measuring);
    while (!body) body = few(measuring);
    expect(body.isSlow).toBe(true);
    for (let at = 0; at < body.bytes;) at += few(() => body.pieceAt(at)).length;
  }
});

test('lists a path without a look-up if no adjacent path has it as a prefix', () => {
  const resolver = resolverOf(1000);
  const listing = resolver.allPlaced(PAGES);
  for (let i = 0; i < listing.entries; i++) expect(listing.entry(i)).not.toBe('');
  // `/a/p0/data/1` and `/a/p0/data/10`: a few paths are prefixes of others.
  expect(resolving.lookups).toBeLessThan(listing.entries / 5);
});

test('lists a path once, by its better record, whichever spellings are adjacent', () => {
  const paths = ['/a', '/a!', '/a/', '/a//', '/a/b', '/a/b/', '/b/', '/b//', '/c//'];
  const observations = paths.map((dataPath, i) => ({ ob_id: i + 1, result_field: { dataPath } }));
  const listing = new Resolver(indexesOf({ observations })).allPlaced(PAGES);
  const entries = Array.from({ length: listing.entries }, (_, i) => listing.entry(i)).filter((entry) => entry !== '');
  const listed = Object.keys(JSON.parse(`{${entries.join(',')}}`) as object);
  expect(listed).toEqual(['/a', '/a!', '/a//', '/a/b', '/b/', '/b//', '/c//']);
});
