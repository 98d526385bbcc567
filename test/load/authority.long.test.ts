// Signing beside the catalogue: how much slower catalogue answers get while 200 requests a second are authorised, as the ratio
// of interleaved rounds within one run. Judged by the middle round, and not where the catalogue alone varies too much.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startLoadClient, type Exchange, type LoadClient, type LoadOutcome } from '../../bench/loadClient.ts';
import { summaryOf } from '../../bench/rounds.ts';
import { DEMONSTRATION_FILES } from '../../server/authority/demonstration.ts';
import { clientOf } from '../support/client.ts';
import { type Addresses, type CommandProcess, runServer } from '../support/commandProcess.ts';
import { call } from '../support/envelopes.ts';

const ROUNDS = 7;
const CHEAP_REQUESTS = 16_000;
const CONNECTIONS = 16;
const WITHIN_MS = 120_000;
const AUTHORISATIONS_PER_SECOND = 200;
/** The target that passes (design: performance), and by how much others on the machine may spoil it. */
const P99_MOST = 2;
const TOLERANCE = 0.3;
/** A middle round that lies so far above the least says more of the machine than of the program. */
const SPREAD_MAX = 0.4;

const LIST = '/api/v3/observations/';
const TARGETS = [`${LIST}?limit=1`, `${LIST}?limit=20&offset=200`, `${LIST}?status=completed&limit=1&offset=50`];

let home: string;
let server: CommandProcess & Addresses;
let load: LoadClient;
let exchanges: readonly Exchange[];
let chain: string;
const alone: LoadOutcome[] = [];
const beside: LoadOutcome[] = [];
const rates: number[] = [];

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'authority-load-'));
  server = await runServer(['--threads', '1'], { environment: { HOME: home } });
  const files = join(home, '.cache', 'catalogue-replica', 'demonstration-authority');
  chain = readFileSync(join(files, DEMONSTRATION_FILES.user), 'utf8');
  load = startLoadClient();
  exchanges = await Promise.all(TARGETS.map(exchangeOf));
  await askCatalogue();
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(await askCatalogue());
    beside.push(await besideSigning(askCatalogue));
  }
});

afterAll(async () => {
  await load?.stop();
  await server?.kill();
  rmSync(home, { recursive: true });
});

async function exchangeOf(target: string): Promise<Exchange> {
  const client = clientOf(server.url);
  const { status, body } = await client.get(target);
  client.close();
  return { target, status, bytes: Buffer.byteLength(body) };
}

function askCatalogue(): Promise<LoadOutcome> {
  const { port } = server;
  return load.run({ port, exchanges, requests: CHEAP_REQUESTS, connections: CONNECTIONS, withinMs: WITHIN_MS });
}

/** Runs `work` while requests to be authorised come at their rate, each with a chain that is new to the server. */
async function besideSigning(work: () => Promise<LoadOutcome>): Promise<LoadOutcome> {
  const client = clientOf(server.url);
  const asking: Promise<void>[] = [];
  const startMs = performance.now();
  const ask = async (): Promise<void> => {
    const body = call(
      'reqAuthorisation',
      `<usrProxyCert>${asking.length}\n${chain}</usrProxyCert><usrAttCert></usrAttCert>`,
    );
    const headers = { 'content-type': 'text/xml' };
    const answer = await client.send({ method: 'POST', target: '/attAuthority.wsdl', headers, body });
    expect(answer.body).toContain('>AccessGranted<');
  };
  // As many as are due by now: the timer of a busy machine comes late.
  const due = (): number => ((performance.now() - startMs) / 1000) * AUTHORISATIONS_PER_SECOND;
  const timer = setInterval(() => {
    while (asking.length < due()) asking.push(ask());
  }, 1);
  const outcome = await work();
  clearInterval(timer);
  rates.push(asking.length / ((performance.now() - startMs) / 1000));
  await Promise.all(asking);
  client.close();
  return outcome;
}

test('catalogue answers take at most twice as long for 99 of 100 while 200 requests a second are authorised', ({
  skip,
}) => {
  const p99Ms = ({ p99Ms }: LoadOutcome): number => p99Ms;
  const ratios = alone.map((outcome, i) => beside[i]!.p99Ms / outcome.p99Ms).sort((a, b) => a - b);
  const { spread } = summaryOf(alone.map(p99Ms));
  const ratio = ratios[ROUNDS >> 1]!;
  process.stderr.write(
    `p99 beside signing: ratio ${ratio.toFixed(2)} (${ratios.map((one) => one.toFixed(2)).join(', ')}), ${Math.min(...rates).toFixed(0)} a second, alone the middle round is ${(spread * 100).toFixed(0)} % above the least\n`,
  );
  expect(Math.min(...rates)).toBeGreaterThan(AUTHORISATIONS_PER_SECOND * 0.9);
  skip(spread > SPREAD_MAX, `not judged: the catalogue alone spreads by ${(spread * 100).toFixed(0)} %`);
  expect(ratio).toBeLessThanOrEqual(P99_MOST * (1 + TOLERANCE));
});
