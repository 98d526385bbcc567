import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { steadyPort } from '../../bench/proxy/shippedProxies.ts';
import { statusOf } from '../support/client.ts';
import { type CommandProcess, runProgram } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { hasProgram } from '../support/debian.ts';
import { newFolder, published, releaseOf, startFollower } from '../support/distributions.ts';
import { until } from '../support/waits.ts';

const directory = temporaryDirectory();
const running: CommandProcess[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) {
    // nginx stops its workers only after a signal to the main process.
    one.signal('SIGTERM');
    await one.ended;
  }
});

test.skipIf(!hasProgram('nginx'))(
  'follows a folder served by nginx, which answers 304 while nothing changes',
  async () => {
    const { folder, url } = newFolder(directory);
    const [first, second] = [await releaseOf(directory, 1), await releaseOf(directory, 2)];
    await published(url, first);
    const port = await steadyPort();
    const prefix = mkdtempSync(join(directory, 'nginx-'));
    mkdirSync(join(prefix, 'logs'));
    const file = join(prefix, 'nginx.conf');
    const server = `server { listen 127.0.0.1:${port}; location /snapshots/ { alias ${folder}/; } }`;
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${prefix}/${name};`,
    );
    const log = join(prefix, 'access.log');
    writeFileSync(
      file,
      `pid ${prefix}/pid; user root; events {} http { access_log ${log}; ${temporary.join(' ')} ${server} }`,
    );
    running.push(runProgram('nginx', ['-p', prefix, '-c', file, '-e', `${prefix}/error.log`, '-g', 'daemon off;']));
    await until(async () => (await statusOf(`http://127.0.0.1:${port}`, '/snapshots/current.json')) === 200);
    const replica = await startFollower(`http://127.0.0.1:${port}/snapshots/`, join(prefix, 'cache'));
    running.push(replica);
    await until(async () => (await replica.status()).data?.generation === first.generation);
    await until(() => / 304 /.test(readFileSync(log, 'utf8')));
    await published(url, second);
    await until(async () => (await replica.status()).target.generation === second.generation);
    expect((await replica.status()).target).toMatchObject({ sequence: 2, kept: [second.generation, first.generation] });
  },
);
