// pandas over fsspec, from their Debian packages.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runServer, type Server } from '../support/commandProcess.ts';
import { hasLibrary } from '../support/debian.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';
import { python } from './python.ts';

const LIBRARIES = ['python3-fsspec', 'python3-aiohttp', 'python3-pandas'] as const;

describe.skipIf(!LIBRARIES.every(hasLibrary))('pandas', () => {
  let server: Server;
  beforeAll(async () => (server = await runServer(['--data', await sampleSnapshot(), '--threads', '1'])));
  afterAll(() => server.stop());

  test('reads a CSV piece by piece, with a byte order mark too', async () => {
    const script = `
import fsspec, json, pandas, sys
tables = []
for mark in ['0', '1']:
    with fsspec.open(sys.argv[1] + '&bom=' + mark, block_size=4096) as file:
        tables.append(pandas.read_csv(file, encoding='utf-8-sig'))
print(json.dumps([len(tables[0]), list(tables[0].columns), bool(tables[0].equals(tables[1]))]))
`;
    const url = `${server.url}/api/v3/observations/?format=csv&fields=ob_id,title,status`;
    expect(await python(script, url)).toEqual([500, ['ob_id', 'title', 'status'], true]);
  });
});
