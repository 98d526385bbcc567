// Pages over generic links: they lead to the page of their record, and that page counts them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openData } from '../../../../../data/open.ts';
import { openSnapshot } from '../../../../../engine/engine.ts';
import { dataSetOf, ndjsonOf } from '../../../../support/dataSets.ts';
import { browserOf, hrefsOf, textsOf } from '../../../../support/htmlPages.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY } from '../../../../support/smallCatalogue.ts';

const SCRATCH = mkdtempSync(join(tmpdir(), 'generic-pages-'));
afterAll(() => rmSync(SCRATCH, { recursive: true }));

test('counts generic links by the kind that leads to the collection, and shows them as links', async () => {
  const relatedTo = (ob_id: number, short_code: string): object => ({ relatedTo: { ob_id, uuid: 'u', short_code } });
  const directory = dataSetOf(SCRATCH, {
    'observations.ndjson': ndjsonOf({ ob_id: 7, title: 'dust' }),
    'projects.ndjson': ndjsonOf({ ob_id: 7, title: 'campaign' }),
    'identifiers.ndjson': ndjsonOf(
      { ob_id: 1, ...relatedTo(7, 'ob') },
      { ob_id: 2, ...relatedTo(7, 'proj') },
      { ob_id: 3, ...relatedTo(8, 'ob') },
      { ob_id: 4, ...relatedTo(7, 'other') },
    ),
    'migrationproperties.ndjson': ndjsonOf(
      { id: 1, key: 'legacy2.title', value: 'x', ob_ref: 7 },
      { id: 2, key: 'other', value: 'x', ob_ref: 7 },
    ),
  });
  const catalogue = openSnapshot(await openData(directory, { baseUrl: BASE_URL, threads: 0 }, () => undefined));
  const { pageAt } = browserOf(handlerWith(NEVER_HEAVY, {}, (name) => catalogue.collection(name)));
  const page = await pageAt('/browse/observations/7/');
  const lines = textsOf(page, '.references li');
  expect(lines).toEqual(['Identifiers 1 Belongs to', 'Legacy properties 1 Record']);
  expect(hrefsOf(page, '.references a')).toEqual([
    '../../../browse/identifiers/?relatedTo=7&relatedTo__short_code=ob',
    '../../../browse/migrationproperties/?ob_ref=7&key__startswith=legacy2.',
  ]);
  const list = await pageAt('/browse/identifiers/?fields=relatedTo');
  expect(textsOf(list, 'tbody td')).toEqual([
    'dust',
    'campaign',
    'Observation 8 (not in this catalogue)',
    'ob_id 7, uuid u, short_code other',
  ]);
  const record = await pageAt('/browse/identifiers/2/');
  expect(hrefsOf(record, 'dl.inner a')).toEqual(['../../../browse/projects/7/']);
  expect(textsOf(record, 'dl.inner dd')).toEqual(['campaign', 'u', 'proj']);
  const property = await pageAt('/browse/migrationproperties/1/');
  expect(hrefsOf(property, 'dl.record a')).toEqual(['../../../browse/observations/7/']);
  const properties = await pageAt('/browse/migrationproperties/?fields=id,key,ob_ref');
  expect(hrefsOf(properties, 'tbody td a')).toEqual(['../../browse/observations/7/']);
});
