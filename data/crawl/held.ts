// What an earlier crawl left of a catalogue: its files, what their pages are known by, and whether a new one has the
// same. Believes a manifest no further than its form goes: readers compare the sums.
import { existsSync } from 'node:fs';
import { parseInstant } from '../../engine/query/instant.ts';
import type { Manifest } from '../import/manifest.ts';
import { type CollectionFile, type DataSet, openDataSet, readLines } from '../import/ndjson.ts';
import { OperationError } from '../operationError.ts';
import type { CollectionPart } from './part.ts';
import type { HeldCollection } from './renew.ts';
import type { PageMark } from './walk.ts';

/** A time behind all others. */
const NEVER = '9999-12-31T23:59:59Z';

/** How the manifest has the pages of a collection: the query of each, and its validator. */
type StoredPages = readonly [collection: string, pages: readonly (readonly [query: string, validator: string])[]];

/** The pages of all parts that have a validator for each, for the manifest; none of a part that has too many. */
export function pagesOf(parts: ReadonlyMap<string, CollectionPart>): readonly StoredPages[] {
  return [...parts].flatMap(([name, { pages }]): readonly StoredPages[] => {
    if (pages === 'tooMany') return [[name, []]];
    if (!pages || pages.length === 0) return [];
    return [[name, pages.map(({ query, validator }) => [query, validator!] as const)]];
  });
}

/**
 * What a crawl of this base URL left in `output`, by collection; nothing where it is of another or of nobody. Its time
 * is no later than `now`: a clock may have been wrong when it was taken.
 */
export async function heldIn(output: string, base: string, now: string): Promise<ReadonlyMap<string, HeldCollection>> {
  const found = await dataSetIn(output);
  if (!found || found.manifest.source !== base) return new Map();
  const pages = storedPages(found.manifest);
  const created = parseInstant(found.manifest.created ?? '') > parseInstant(now) ? now : found.manifest.created;
  const summed = found.files.filter(({ sha256 }) => sha256 !== undefined);
  return new Map(summed.map((file) => [file.collection, { file, created, pages: pages.get(file.collection) }]));
}

/** The time of the data in `output`, where it tells one. */
export async function createdIn(output: string): Promise<string | undefined> {
  return (await dataSetIn(output))?.manifest.created;
}

/**
 * The time of data that replaces data of `before`: `now`, or a second behind what it replaces where the clock went
 * back, since replicas and publishers take no older data (A111).
 */
export function laterThan(before: string | undefined, now: string): string {
  const held = parseInstant(before ?? '');
  if (!(parseInstant(now) < held && held < parseInstant(NEVER))) return now;
  return `${new Date(held / 1000 + 1000).toISOString().slice(0, 19)}Z`;
}

/** The manifest in `output` where its files have these sums, and no others. Cost: a pass over them, if it says so. */
export async function sameIn(output: string, sha256: Readonly<Record<string, string>>): Promise<Manifest | undefined> {
  const found = await dataSetIn(output);
  const { manifest, files } = found ?? {};
  const isSame =
    manifest?.created !== undefined &&
    manifest.sha256.size === Object.keys(sha256).length &&
    Object.entries(sha256).every(([file, sum]) => manifest.sha256.get(file) === sum);
  if (!isSame) return undefined;
  for (const file of files!) if (!(await isIntact(file))) return undefined;
  return manifest;
}

async function isIntact(file: CollectionFile): Promise<boolean> {
  try {
    for await (const _ of readLines(file));
    return true;
  } catch (error) {
    if (error instanceof OperationError && error.code === 'input') return false;
    throw error;
  }
}

/** What cannot be read as a data set is replaced by one that can. */
async function dataSetIn(output: string): Promise<DataSet | undefined> {
  if (!existsSync(output)) return undefined;
  try {
    return await openDataSet(output);
  } catch (error) {
    if (error instanceof OperationError && error.code === 'input') return undefined;
    throw error;
  }
}

function storedPages({ pages }: Manifest): ReadonlyMap<string, readonly PageMark[]> {
  if (!Array.isArray(pages)) return new Map();
  return new Map(
    (pages as unknown[]).filter(isStored).map(([name, marks]) => {
      return [name, marks.map(([query, validator]) => ({ query, validator }))] as const;
    }),
  );
}

function isStored(value: unknown): value is StoredPages {
  if (!Array.isArray(value) || typeof value[0] !== 'string' || !Array.isArray(value[1])) return false;
  return (value[1] as unknown[]).every(
    (mark) =>
      Array.isArray(mark) &&
      mark.length === 2 &&
      // Nothing of it leads elsewhere.
      /^limit=\d{1,9}&offset=\d{1,16}(?:&ordering=\w{1,40})?$/.test(String(mark[0])) &&
      /^[\x20-\x7e]{1,250}$/.test(String(mark[1])),
  );
}
