import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';

const SAMPLE = fileURLToPath(new URL('../../data/sample/', import.meta.url));
/** The screen of a telephone. */
export const TELEPHONE = { viewport: { width: 360, height: 740 } };

/** Colour schemes and window sizes of the pages under test. */
export const PAGE_LOOKS = [
  ['light', { width: 1280, height: 900 }],
  ['dark', { width: 1280, height: 900 }],
  ['light', TELEPHONE.viewport],
] as const;

/** The first record of a collection in the embedded sample. */
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
