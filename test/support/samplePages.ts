// The pages of the embedded sample that tests of browsers open: a record of every collection, and the screens on which
// pages are looked at.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';

const SAMPLE = fileURLToPath(new URL('../../data/sample/', import.meta.url));
/** The width of a telephone. */
export const TELEPHONE = { viewport: { width: 360, height: 740 } };

/** Schemes of colours and sizes of windows. */
export const PAGE_LOOKS = [
  ['light', { width: 1280, height: 900 }],
  ['dark', { width: 1280, height: 900 }],
  ['light', TELEPHONE.viewport],
] as const;

/** The first record of each collection, as the sample has it. */
export function firstRecord(name: string): string {
  const [line = ''] = readFileSync(`${SAMPLE}${name}.ndjson`, 'utf8').split('\n');
  return line;
}

/** The id of that record, by collection. */
export const FIRST_IDS = new Map(
  COLLECTIONS.map(({ name, idField }) => {
    return [name, (JSON.parse(firstRecord(name)) as Readonly<Record<string, unknown>>)[idField] as number];
  }),
);
