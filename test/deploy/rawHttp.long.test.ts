// The rows of raw HTTP (test/contract/http/) through nginx with the shipped file, compared with the same nginx without
// a replica: whatever nginx alone does as the row expects, it does with a replica too. No row is an exception; an
// exception would be listed here with its reason. New rows need no change here. Also tests unknown methods through each
// shipped proxy.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROXIES, type ProxyName, steadyPort } from '../../bench/proxy/shippedProxies.ts';
import { BODY_ROWS } from '../contract/http/bodyRows.ts';
import { HEAD_ROWS } from '../contract/http/headRows.ts';
import type { Row } from '../contract/http/row.ts';
import { statusOf } from '../support/client.ts';
import { type CommandProcess, runProgram } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { hasProgram } from '../support/debian.ts';
import { type Proxy, type Replica, startProxy, startReplica } from '../support/proxies.ts';
import { type RawAnswer, RawSocket, requestOf } from '../support/rawSocket.ts';
import { until } from '../support/waits.ts';

const ROWS: readonly Row[] = Object.values({ ...HEAD_ROWS, ...BODY_ROWS }).flat();

const LAST_TARGET = '/api/v3/observations/141/';
const LAST = requestOf('GET', LAST_TARGET);
const LAST_BODY = '{"ob_id":141';
/** After this time without a response, the peer counts as waiting for more. */
const SILENT_MS = 3000;
/** Statuses that refuse a request as malformed or not understood; any other status is a response to it. */
const REFUSALS = new Set([400, 411, 413, 414, 421, 431, 501, 505]);

/** `return 200` with the limits of deploy/nginx.conf. */
const aloneText = (port: number): string => `
  pid nginx.pid;
  events { worker_connections 1024; }
  http {
    access_log off;
    large_client_header_buffers 4 64k;
    client_max_body_size 1m;
    server {
      listen 127.0.0.1:${port};
      location / { return 200 served; }
      location = ${LAST_TARGET} { return 200 '${LAST_BODY}}'; }
    }
  }`;

/** Starts nginx without a replica. */
async function startAlone(parent: string): Promise<{ readonly process: CommandProcess; readonly port: number }> {
  const folder = mkdtempSync(join(parent, 'alone-'));
  const port = await steadyPort();
  writeFileSync(join(folder, 'nginx.conf'), aloneText(port));
  const words = ['-p', folder, '-c', 'nginx.conf', '-e', 'early.log', '-g', 'daemon off;'];
  const process = runProgram('nginx', words);
  await until(async () => (await statusOf(`http://127.0.0.1:${port}`)) === 200);
  return { process, port };
}

const told = ({ status }: RawAnswer): string => (REFUSALS.has(status) ? 'refused' : status < 500 ? 'served' : 'broken');

/** The outcome of a row's bytes: each response, and whether the connection accepts another request. */
async function outcomeOf(port: number, { bytes, outcome }: Row): Promise<string> {
  const socket = await RawSocket.open(port);
  await socket.write(bytes);
  const isOpen = outcome.endsWith('open');
  if (isOpen) await socket.write(LAST);
  const seen: string[] = [];
  for (;;) {
    const answer = await Promise.race([socket.answer(), delay(SILENT_MS, 'silent' as const)]);
    if (answer === 'silent' || answer?.body.startsWith(LAST_BODY)) {
      socket.vanish();
      return [...seen, answer === 'silent' ? 'silent' : 'open'].join(' ');
    }
    if (!answer) return [...seen, 'close'].join(' ');
    if (answer.status === 100) continue;
    seen.push(told(answer));
    if (!isOpen && seen.length === 1) await socket.write(LAST);
  }
}

/**
 * Returns whether `seen` is the outcome of the row. A proxy that has read a whole request may also refuse it and keep
 * the connection.
 */
function isAsSaid({ outcome }: Row, seen: string): boolean {
  const wanted = outcome.replaceAll(/\([^)]*\)/g, 'served').replaceAll(/\b[45]\d\d\b/g, 'refused');
  return seen === wanted || (wanted === 'refused close' && seen === 'refused open');
}

describe.skipIf(!hasProgram('nginx'))('behind nginx', () => {
  const folder = temporaryDirectory();
  let alone: { readonly process: CommandProcess; readonly port: number };
  let replica: Replica;
  let before: Proxy;
  beforeAll(async () => {
    [alone, replica] = await Promise.all([startAlone(folder), startReplica(0)]);
    before = await startProxy('nginx', folder, [replica]);
  });
  afterAll(async () => {
    alone.process.signal('SIGTERM');
    await Promise.all([alone.process.ended, before.stop(), replica.process.kill()]);
  });

  test('raw HTTP has the outcome of nginx alone, or a better one, in every case', async () => {
    const judged = await Promise.all(
      ROWS.map(async (row) => {
        const [own, through] = await Promise.all([outcomeOf(alone.port, row), outcomeOf(before.port, row)]);
        return { name: row.name, own, through, ownIs: isAsSaid(row, own), throughIs: isAsSaid(row, through) };
      }),
    );
    expect(judged.filter(({ ownIs, throughIs }) => ownIs && !throughIs)).toEqual([]);
    expect(judged.filter(({ through }) => through.includes('broken'))).toEqual([]);
    const score = (key: 'ownIs' | 'throughIs'): number => judged.filter((one) => one[key]).length;
    expect(score('ownIs')).toBeGreaterThan(100);
    process.stderr.write(
      `of ${ROWS.length} cases, nginx alone: ${score('ownIs')}, with a replica: ${score('throughIs')}\n`,
    );
  });
});

const NAMES = (Object.keys(PROXIES) as ProxyName[]).filter((name) => hasProgram(PROXIES[name].program));

describe.each(NAMES)('the shipped %s', (name) => {
  let replica: Replica;
  let proxy: Proxy;
  beforeAll(async () => {
    replica = await startReplica(0);
    proxy = await startProxy(name, temporaryDirectory(), [replica]);
  });
  afterAll(() => Promise.all([proxy.stop(), replica.process.kill()]));

  test.each(['TRACE', 'CONNECT', 'PROPFIND', 'get', 'FOO'])(
    'refuses %s, and reads the next request before a replica does',
    async (method) => {
      const socket = await RawSocket.open(proxy.port);
      const next = `${LAST_TARGET}?after=${method}`;
      await socket.write(requestOf(method, '/', ['Content-Length: 3'], 'abc') + requestOf('GET', next));
      const answers = [await socket.answer(), await socket.answer()].filter((answer) => answer !== undefined);
      socket.vanish();
      expect(answers[0]?.status).toBeOneOf([400, 405]);
      // Varnish marks each response that it has made or read, the others log each request that they have read.
      if (name === 'varnish') expect(answers.map(({ headers }) => headers.has('x-varnish'))).toEqual([true, true]);
      else if (answers.length > 1) await expect.poll(() => proxy.log(), { timeout: 30_000 }).toContain(next);
    },
  );
});
