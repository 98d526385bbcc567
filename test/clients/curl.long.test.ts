// curl: downloads that broke off are resumed, and closed connections are.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runServer, type Server } from '../support/commandProcess.ts';
import { hasProgram } from '../support/debian.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';

const run = promisify(execFile);
const curl = async (...words: readonly string[]): Promise<string> => (await run('curl', ['-sS', ...words])).stdout;

describe.skipIf(!hasProgram('curl'))('curl', () => {
  let server: Server;
  const directory = mkdtempSync(join(tmpdir(), 'clients-curl-'));
  beforeAll(async () => (server = await runServer(['--data', await sampleSnapshot(), '--threads', '1'])));
  afterAll(async () => {
    rmSync(directory, { recursive: true });
    await server.stop();
  });

  test.each(['csv', 'ndjson', 'parquet'])('-C - resumes a download of %s, on both ports', async (format) => {
    for (const port of [server.port, server.http10Port]) {
      const url = `http://127.0.0.1:${port}/api/v3/observations/?format=${format}`;
      const file = join(directory, `observations.${format}`);
      writeFileSync(file, '');
      await curl('-o', file, url);
      const whole = readFileSync(file);
      truncateSync(file, whole.length - 5000);
      await curl('-C', '-', '-o', file, url);
      expect(readFileSync(file).equals(whole)).toBe(true);
    }
  });

  test('-r gets one range, the whole file for several, and 416 beyond the end', async () => {
    const url = `${server.url}/api/v3/observations/?format=csv`;
    const codeOf = (range: string): Promise<string> => curl('-o', '/dev/null', '-w', '%{http_code}', '-r', range, url);
    expect(await codeOf('0-9')).toBe('206');
    expect(await codeOf('0-9,20-29')).toBe('200');
    expect(await codeOf('99999999-')).toBe('416');
  });

  test('a GET with an empty chunked body is served', async () => {
    const url = `${server.url}/api/v3/observations/?limit=1`;
    const words = ['-X', 'GET', '--data-binary', '@/dev/null', '-H', 'Transfer-Encoding: chunked'];
    expect(await curl('-o', '/dev/null', '-w', '%{http_code}', ...words, url)).toBe('200');
  });
});
