// Apache with mod_deflate in front of a replica that does not compress: it adds -gzip to the entity tag.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { steadyPort } from '../../bench/proxy/shippedProxies.ts';
import { type CommandProcess, runProgram, runServer, type Server } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { hasProgram } from '../support/debian.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';
import { until } from '../support/waits.ts';

const run = promisify(execFile);
const MODULES = ['mpm_event', 'authz_core', 'filter', 'deflate', 'proxy', 'proxy_http'];

describe.skipIf(!hasProgram('apache2'))('Apache with mod_deflate', () => {
  let server: Server;
  let apache: CommandProcess;
  let url: string;
  const directory = temporaryDirectory();
  beforeAll(async () => {
    server = await runServer(['--data', await sampleSnapshot(), '--threads', '1', '--gzip', 'off']);
    const port = await steadyPort();
    const file = join(directory, 'httpd.conf');
    const lines = [
      `ServerRoot ${directory}`,
      'ServerName localhost',
      `Listen 127.0.0.1:${port}`,
      `PidFile ${join(directory, 'pid')}`,
      `ErrorLog ${join(directory, 'error.log')}`,
      'User www-data',
      'Group www-data',
      ...MODULES.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
      'AddOutputFilterByType DEFLATE application/json',
      `ProxyPass / http://127.0.0.1:${server.port}/`,
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    // One process, without children that outlive it.
    apache = runProgram('apache2', ['-f', file, '-X']);
    url = `http://127.0.0.1:${port}/api/v3/observations/?limit=5`;
    await until(async () => (await fetch(url).catch(() => undefined))?.status === 200, apache.out);
  });
  afterAll(async () => {
    await apache.kill();
    await server.stop();
  });

  test('gets 304 for the tag that it sent with a compressed response', async () => {
    const { headers } = await fetch(url, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(headers.get('Content-Encoding')).toBe('gzip');
    const tag = headers.get('ETag')!;
    expect(tag).toMatch(/-gzip"$/);
    // The fetch of Node.js adds `no-cache` to requests with a condition.
    const conditional = ['-H', 'Accept-Encoding: gzip', '-H', `If-None-Match: ${tag}`];
    const { stdout } = await run('curl', [
      '-sS',
      '-o',
      join(directory, 'body'),
      '-w',
      '%{http_code}',
      ...conditional,
      url,
    ]);
    expect(stdout).toBe('304');
  });
});
