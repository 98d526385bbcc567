// Snapshots with valid checksums and invalid contents: each is refused with one sentence, or opened and queried. Every
// query ends within its limits, with a response or with an error that the handler answers with 500.
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { openData } from '../../data/open.ts';
import { OperationError } from '../../data/operationError.ts';
import { type CollectionIndex, openSnapshot } from '../../engine/engine.ts';
import { BLOCKS, BLOCKS_TITLE, GROUPS, sectionName } from '../../engine/snapshot/sections.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { stepsOf } from '../support/lists.ts';
import { randomOf } from '../support/random.ts';
import { measuringOf } from '../../engine/page/representation.ts';
import { measured } from '../../engine/page/rows.ts';
import { times } from '../support/ring.ts';
import { rewriteSnapshot, SMALL_TEXTS, snapshotOf } from '../support/snapshots.ts';

const SCRATCH = temporaryDirectory();
const GOOD = join(SCRATCH, 'good.snapshot');
const FORGED = join(SCRATCH, 'forged.snapshot');
const SEED = 91;
const ROUNDS = times(8, 30);
const BASE_URL = 'https://catalogue.example.org';
/** No page contains a record twice, so no body exceeds a hundred times the file. */
const BODY_BYTES_MAX = 30_000_000;

const QUERIES = [
  '',
  'limit=3&offset=1',
  'fields=ob_id,text',
  'fields=terms,platform',
  'format=csv',
  'format=ndjson',
  'format=csv&fields=ob_id',
  'text__contains=abab',
  'text__icontains=BAB',
  'text__startswith=a&ordering=-text',
  'text__regex=b1',
  'terms__label=units',
  'terms__label!=units&facets=terms__label',
  'terms__label__in=units,l3',
  'platform=2',
  'platform__ob_id__gte=1',
  'platform__ob_id__isnull=true&facets=platform',
  'modified__gte=2019-01-02',
  'ordering=modified',
  'names__name__contains=n',
  'names__isnull=true',
  'after=2',
];
const KINDS = GROUPS.filter((group) => group !== BLOCKS && group !== BLOCKS_TITLE).flatMap((group) =>
  Object.keys(group.kinds).map((key) => sectionName(group, key, '')),
);

beforeAll(async () => {
  const notes = Array.from({ length: 800 }, (_, i) => JSON.stringify({ ob_id: i, text: 'ab'.repeat(i % 90) + i }));
  await snapshotOf(GOOD, { ...SMALL_TEXTS, notes: notes.join('\n') });
});

/** Sends every query to a collection and reads each response to its end. Only Error objects may be thrown. */
function askAll(collection: CollectionIndex, where: string): void {
  for (const query of QUERIES) {
    try {
      const { page } = stepsOf(collection, query, { form: { baseUrl: BASE_URL }, mayIgnore: true });
      if (!page) continue;
      const body = measured(measuringOf(page));
      expect(body.bytes, `${where}?${query}`).toBeLessThan(BODY_BYTES_MAX);
      for (let at = 0; at < body.bytes;) {
        const piece = body.pieceAt(at);
        expect(piece.length, `${where}?${query} at ${at}`).toBeGreaterThan(0);
        at += piece.length;
      }
    } catch (error) {
      if ((error as Error).name === 'AssertionError') throw error;
      expect(error, `${where}?${query}`).toBeInstanceOf(Error);
    }
  }
}

test.each(KINDS)('refuses or safely serves a snapshot with forged sections .%s', async (suffix) => {
  for (let round = 0; round < ROUNDS; round++) {
    const random = randomOf(SEED + round);
    let where = '';
    await rewriteSnapshot(GOOD, FORGED, (sections) => {
      const found = sections.filter((one) => one.elements.length > 0 && one.name.split('.').at(-1) === suffix);
      const { name, elements } = random.pick(found);
      for (let n = random.pick([1, 1, 20]); n > 0; n--) {
        const most = elements instanceof Float64Array ? 2 ** 40 : 2 ** (8 * elements.BYTES_PER_ELEMENT);
        elements[random.integer(0, elements.length)] = random.integer(0, random.pick([3, elements.length + 1, most]));
      }
      where = `seed ${SEED + round}, ${name}`;
      return sections;
    });
    const loaded = await openData(FORGED, { baseUrl: BASE_URL, threads: 0 }, () => undefined).catch(
      (error: unknown) => {
        expect(error, where).toBeInstanceOf(OperationError);
        expect((error as Error).message).toMatch(/^[^\n]+$/);
        return undefined;
      },
    );
    if (!loaded) continue;
    const catalogue = openSnapshot(loaded);
    for (const name of ['notes', 'phenomona', 'ipps', 'platforms', 'migrationproperties'])
      askAll(catalogue.collection(name), `${where}: ${name}`);
  }
});
