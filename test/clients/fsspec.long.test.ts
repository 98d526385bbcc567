// fsspec, from its Debian package: exports are read in place, by ranges.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runServer, type Server } from '../support/commandProcess.ts';
import { hasLibrary } from '../support/debian.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';
import { python } from './python.ts';

const LIBRARIES = ['python3-fsspec', 'python3-aiohttp'] as const;

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
});
