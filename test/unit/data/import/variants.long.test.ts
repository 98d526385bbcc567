// Snapshots without some index variants: they are smaller, record this in their metadata, can be verified, and give the
// same results.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openData } from '../../../../data/open.ts';
import { loadSnapshot } from '../../../../data/store/load.ts';
import { OperationError } from '../../../../data/operationError.ts';
import { verifyFile } from '../../../../data/store/verify.ts';
import { type CollectionIndex, openSnapshot } from '../../../../engine/engine.ts';
import { decodeMetadata, encodeMetadata, type Metadata } from '../../../../engine/snapshot/metadata.ts';
import { imported, temporaryDirectory } from '../../../support/dataSets.ts';
import { hitsOf } from '../../../support/lists.ts';
import { rowsOf } from '../../../support/pages.ts';
import { faultOf, replaced, rewriteSnapshot, within } from '../../../support/snapshots.ts';

const SCRATCH = temporaryDirectory();
const SAMPLE = join(import.meta.dirname, '../../../../data/sample');
const BASE_URL = 'http://catalogue.test';
const QUERIES = [
  '',
  'abstract__contains=wind',
  'abstract__icontains!=THE',
  'status=completed',
  'status!=completed&publicationState=citable',
  'status__in=completed,ongoing&language=English&ordering=-title&facets=status,publicationState',
  'permissions__accessCategory=public&title__contains=a',
  'phenomena__terms__label=units&phenomena__terms__value=K',
  'dataPublishedTime__gte=2010-01-01&title__startswith=A',
  'projects__title__contains=a&offset=7',
];

/** The sample without some variants: its file, its size, and its observations. */
async function sampleWithout(
  without: string | undefined,
): Promise<{ file: string; bytes: number; observations: CollectionIndex }> {
  const name = join(SCRATCH, `${without ?? 'all'}.snapshot`);
  const { file, report } = await imported(SAMPLE, { file: name, without });
  const loaded = await loadSnapshot(file, { baseUrl: BASE_URL }, () => undefined);
  return { file, bytes: report.snapshotBytes, observations: openSnapshot(loaded).collection('observations') };
}

function answersOf(collection: CollectionIndex): unknown {
  return QUERIES.map((query) => {
    const hits = hitsOf(collection, query, { options: { limitDefault: 50 }, form: { baseUrl: BASE_URL } });
    return { ...hits, rows: rowsOf(hits.rows) };
  });
}

describe('a snapshot', async () => {
  const whole = await sampleWithout(undefined);

  test.each(['grams', 'words', 'bitmaps', 'bitmaps, grams'])(
    'without %s is smaller, valid, and gives the same results',
    async (without) => {
      const { file, bytes, observations } = await sampleWithout(without);
      expect(bytes).toBeLessThan(whole.bytes);
      expect(answersOf(observations)).toEqual(answersOf(whole.observations));
      const abstract = observations.members.get('abstract');
      expect(abstract?.kind === 'values' && abstract.index.grams === undefined).toBe(without.includes('grams'));
      expect(abstract?.kind === 'values' && abstract.index.words === undefined).toBe(without.includes('words'));
      const { parts } = await verifyFile(file, () => undefined);
      const bitmaps = parts.find(({ name }) => name === 'bitmaps')!;
      expect(bitmaps.bytes === 0).toBe(without.includes('bitmaps'));
    },
  );

  test('is refused if it lacks a variant that its metadata claims, or has one that it does not claim', async () => {
    const lying = join(SCRATCH, 'lying.snapshot');
    const saying = (without: readonly ('grams' | 'bitmaps')[]) =>
      replaced('metadata', (bytes) =>
        encodeMetadata({ ...(decodeMetadata(bytes as Uint8Array) as Metadata), without }),
      );
    const { file } = await sampleWithout('grams,bitmaps');
    await rewriteSnapshot(file, lying, saying(['grams']));
    expect(await faultOf(lying)).toMatch(/^sections that differ: .*\.dense/m);
    await rewriteSnapshot(file, lying, saying(['bitmaps']));
    expect(await faultOf(lying)).toMatch(/^sections that differ: .*\.gramKeys/m);
    await rewriteSnapshot(whole.file, lying, saying(['grams']));
    expect(await faultOf(lying)).toMatch(/^sections that differ: .*\.gramKeys/m);
  });
});

test('refuses to open n-grams whose lists end outside of all lists', async () => {
  const { file } = await sampleWithout(undefined);
  const forged = join(SCRATCH, 'forged.snapshot');
  const far = within('observations/abstract.gramEnds', (ends) => void (ends[0] = 0x3fff_ffff));
  await rewriteSnapshot(file, forged, far);
  await expect(openData(forged, { baseUrl: BASE_URL, threads: 0 }, () => undefined)).rejects.toThrow(
    /section observations\/abstract\.gramEnds: /,
  );
});

test.each(['', 'gram', 'grams,x', ','])('refuses --without %j with the valid names', async (without) => {
  const refused = imported(SAMPLE, { file: join(SCRATCH, 'refused.snapshot'), without });
  await expect(refused).rejects.toThrow(OperationError);
  await expect(refused).rejects.toThrow(/expected one or more of grams, words, bitmaps, with commas$/);
});
