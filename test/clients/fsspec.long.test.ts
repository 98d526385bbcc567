// fsspec and pandas over it, from their Debian packages: exports are read in place, by ranges.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runServer, type Server } from '../support/commandProcess.ts';
import { hasLibrary } from '../support/debian.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';
import { python } from './python.ts';

const LIBRARIES = ['python3-fsspec', 'python3-aiohttp', 'python3-pandas'] as const;

describe.skipIf(!LIBRARIES.every(hasLibrary))('fsspec', () => {
  let server: Server;
  beforeAll(async () => (server = await runServer(['--data', await sampleSnapshot(), '--threads', '1'])));
  afterAll(() => server.stop());
  const list = (): string => `${server.url}/api/v3/observations/`;

  test('reads the end of a Parquet file without its beginning', async () => {
    const script = `
import fsspec, json, sys
with fsspec.open(sys.argv[1], block_size=1024) as file:
    file.seek(-8, 2)
    end = file.read(8)
    file.seek(0)
    print(json.dumps([file.size, list(end), file.read(4).decode()]))
`;
    const whole = Buffer.from(await (await fetch(`${list()}?format=parquet`)).arrayBuffer());
    expect(await python(script, `${list()}?format=parquet`)).toEqual([whole.length, [...whole.subarray(-8)], 'PAR1']);
  });

  test('gives pandas a CSV piece by piece, with a byte order mark too', async () => {
    const script = `
import fsspec, json, pandas, sys
tables = []
for mark in ['0', '1']:
    with fsspec.open(sys.argv[1] + '&bom=' + mark, block_size=4096) as file:
        tables.append(pandas.read_csv(file, encoding='utf-8-sig'))
print(json.dumps([len(tables[0]), list(tables[0].columns), bool(tables[0].equals(tables[1]))]))
`;
    const url = `${list()}?format=csv&fields=ob_id,title,status`;
    expect(await python(script, url)).toEqual([500, ['ob_id', 'title', 'status'], true]);
  });
});
