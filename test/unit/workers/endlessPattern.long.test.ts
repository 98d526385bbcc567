import { expect, test } from 'vitest';
import { loadSnapshot } from '../../../data/store/load.ts';
import { openSnapshot } from '../../../engine/snapshot/open.ts';
import { POOL_LIMITS, startPool } from '../../../workers/pool.ts';
import type { HeavyQuery } from '../../../workers/protocol.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../support/dataSets.ts';
import { planOf } from '../../support/lists.ts';
import { randomOf } from '../../support/random.ts';
import { LeavingClient } from '../../support/requests.ts';

const BASE_URL = 'http://localhost';
const directory = temporaryDirectory();

test('ends the thread of an endless pattern, and gives the next query another', async () => {
  const random = randomOf(31);
  // Texts that keep adding states to a pattern: 50 us a byte.
  const value = Array.from({ length: 1 << 16 }, () => random.pick(['a', 'b'])).join('');
  const record = { id: 1, key: 'k', value: value.repeat(64), modified: '2020-02-29', ob_ref: 1 };
  const long = await imported(dataSetOf(directory, { 'migrationproperties.ndjson': `${JSON.stringify(record)}\n` }));
  const loaded = await loadSnapshot(long.file, { baseUrl: BASE_URL });
  const index = openSnapshot(loaded).collection('migrationproperties');
  const asked = (condition: string): HeavyQuery => ({
    collection: 'migrationproperties',
    plan: planOf(index, condition, { form: { baseUrl: BASE_URL } }),
    wants: 'page',
  });
  const one = startPool(loaded, 1, { ...POOL_LIMITS, taskMsMax: 2000, waitMsMax: 60_000 });
  expect(await one.run(asked('value__regex=(?:a[ab]{0,300}){1,2}[cd]'), new LeavingClient())).toBe('overtime');
  expect(await one.run(asked('value__contains=abba'), new LeavingClient())).toMatchObject({ page: { count: 1 } });
  await one.close();
});
