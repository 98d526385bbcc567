// GDAL reads an export in place through /vsicurl/.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runServer, type Server } from '../support/commandProcess.ts';
import { hasProgram } from '../support/debian.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';

const run = promisify(execFile);

describe.skipIf(!hasProgram('ogrinfo'))('GDAL', () => {
  let server: Server;
  beforeAll(async () => (server = await runServer(['--data', await sampleSnapshot(), '--threads', '1'])));
  afterAll(() => server.stop());

  test('reads a CSV through /vsicurl/', async () => {
    const source = `CSV:/vsicurl/${server.url}/api/v3/observations.csv?fields=ob_id,title`;
    const { stdout } = await run('ogrinfo', ['-ro', '-so', '-al', source]);
    expect(stdout).toContain('Feature Count: 500');
    expect(stdout).toMatch(/ob_id: String/);
  });
});
