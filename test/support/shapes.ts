import { loadSnapshot } from '../../data/store/load.ts';
import type { RecordShape } from '../../engine/query/served.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { type Catalogue, openSnapshot } from '../../engine/snapshot/open.ts';
import { shapesOf } from '../../server/pages/openapi/schemas.ts';
import { dataSetOf, imported, ndjsonOf } from './dataSets.ts';

/** Records with fields of unusual names and structures, and with values that do not fit documented types. */
export const ODD_COLLECTIONS = {
  drsdatasets: [
    {
      ob_id: 1,
      drsId: 'a',
      version: 'v20110101',
      $ref: 1,
      '~1/{id}': 1,
      ['__proto__']: 1,
      format: 'x',
      größe: [1, null],
    },
    { ob_id: 2, format: null, deep: { of: [{ ob_id: 1, type: true, parts: [{ length: 1 }] }], required: null } },
    { ob_id: 3, mixed: [1], isLatest: true },
    { ob_id: 4, mixed: { a: 1 } },
  ],
  platforms: [{ ob_id: 1, title: 7, location: 'harbour', platformType: ['ship'], uuid: null }],
  computations: [{ ob_id: 1, title: 'x', extra: 1.5 }],
  composites: [{ ob_id: 1, computationComponent: [{ ob_id: 1, title: 'x', other: '2020-01-01' }] }],
};

/** The documented shapes of all collections, without data. */
export const DOCUMENTED_SHAPES: readonly RecordShape[] = COLLECTIONS.map((collection) => {
  return { name: collection.name, fields: collection.fields, others: [] };
});

export async function opened(file: string): Promise<Catalogue> {
  return openSnapshot(await loadSnapshot(file, { baseUrl: 'http://localhost:8080' }));
}

/** Imports records by collection into a snapshot file; its data set is in `parent`. */
export async function fileOf(parent: string, records: Readonly<Record<string, readonly object[]>>): Promise<string> {
  const files = Object.entries(records).map(([name, all]) => {
    return [`${name}.ndjson`, ndjsonOf(...all)] as const;
  });
  return (await imported(dataSetOf(parent, Object.fromEntries(files)))).file;
}

export async function shapesIn(file: string): Promise<readonly RecordShape[]> {
  const catalogue = await opened(file);
  return shapesOf((name) => catalogue.collection(name));
}
