// nginx, HAProxy and Varnish with the files of deploy/ (bench/proxy/shippedProxies.ts), replicas behind them, and
// clients that keep their connections and count bad responses.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { adaptedProxy, type ProxyName, type ReplacedText, steadyPort } from '../../bench/proxy/shippedProxies.ts';
import {
  DEMONSTRATION_FILES,
  demonstrationDirectory,
  prepareDemonstration,
} from '../../server/authority/demonstration.ts';
import { epochSeconds } from '../../server/observe/clock.ts';
import { clientOf, type Sent, statusOf } from './client.ts';
import { type Addresses, type CommandProcess, runCommand, runProgram } from './commandProcess.ts';
import { call } from './envelopes.ts';
import { sampleSnapshot } from './sampleSnapshot.ts';
import { until } from './waits.ts';

/** The base of every link of the replicas. */
export const PUBLIC_URL = 'https://catalogue.example.org';

/** A replica that can be restarted at its ports. */
export interface Replica {
  readonly port: number;
  readonly http10Port: number;
  readonly adminPort: number;
  process: CommandProcess;
  /** Restarts it after it has exited; resolves when it is ready. */
  start(): Promise<void>;
}

/** The flags of a server of the sample and the demonstration, with the sample already imported and compressed. */
async function sampleWords(): Promise<readonly string[]> {
  const authority = prepareDemonstration(demonstrationDirectory(), epochSeconds());
  return ['--data', await sampleSnapshot(), '--authority', join(authority, DEMONSTRATION_FILES.config)];
}

let sample: Promise<readonly string[]> | undefined;

/**
 * Starts a replica of the sample, or of `--from` in `words`, with links under PUBLIC_URL, and waits until it is ready.
 * `node` are flags of Node.
 */
export async function startReplica(
  graceSeconds: number,
  words: readonly string[] = [],
  node: readonly string[] = [],
): Promise<Replica> {
  const [port, http10Port, adminPort] = [await steadyPort(), await steadyPort(), await steadyPort()];
  const flags = ['--port', port, '--http10-port', http10Port, '--admin-port', adminPort].map(String);
  const more = ['--threads', '1', '--base-url', PUBLIC_URL, '--pin-walks', `--drain-grace-seconds=${graceSeconds}`];
  const data = words.includes('--from') ? [] : await (sample ??= sampleWords());
  const run = (): CommandProcess => runCommand(['serve', ...flags, ...more, ...data, ...words], { node });
  const isReady = async (): Promise<boolean> => (await statusOf(`http://127.0.0.1:${port}`)) === 200;
  const replica: Replica = {
    port,
    http10Port,
    adminPort,
    process: run(),
    start: async () => {
      replica.process = run();
      await until(isReady);
    },
  };
  await until(isReady);
  return replica;
}

/** A running proxy. `log` is empty if it writes no files. */
export interface Proxy extends Pick<Addresses, 'url' | 'port'> {
  /** Undefined if it does not terminate TLS. */
  readonly tlsPort: number | undefined;
  log(): string;
  stop(): Promise<void>;
}

/**
 * Starts a proxy for up to three replicas, with a folder inside `parent`, and waits until it responds. `more` are
 * replacements in its configuration file.
 */
export async function startProxy(
  name: ProxyName,
  parent: string,
  replicas: readonly Replica[],
  more: readonly ReplacedText[] = [],
): Promise<Proxy> {
  const { kind, at, words } = await adaptedProxy(name, parent, replicas, more);
  mkdirSync(at.folder, { recursive: true });
  const running = runProgram(kind.program, words);
  const url = `http://127.0.0.1:${at.port}`;
  let end: unknown;
  void running.ended.then((how) => (end = how));
  await until(async () => {
    if (end !== undefined) throw new Error(`${name} ended:\n${running.out()}${running.err()}`);
    return (await statusOf(url)) === 200;
  });
  return {
    url,
    port: at.port,
    tlsPort: kind.endsTls ? at.tlsPort : undefined,
    log: () => (name === 'nginx' ? readFileSync(join(at.folder, 'catalogue.log'), 'utf8') : running.out()),
    stop: async () => {
      running.signal('SIGTERM');
      await running.ended;
    },
  };
}

/** The number of requests that a replica has answered, without probes. */
export async function requestsOf({ adminPort }: Replica): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  const lines = [...text.matchAll(/^catalogue_replica_requests_total\{route="(?!health)[^}]*\} (\d+)$/gm)];
  return lines.reduce((sum, [, count]) => sum + Number(count), 0);
}

const CLIENTS = 4;
const PAUSE_MS = 10;

/** The number of good responses, and the faults of the others. */
export interface ProxyTally {
  readonly answered: number;
  readonly faults: readonly string[];
}

/** A request that must get a 200 from every replica. No two consecutive ones are the same. */
export function soundRequest(n: number): Sent {
  const list = '/api/v3/observations/';
  const headers = { 'content-type': 'text/xml; charset=utf-8' };
  const kinds: readonly Sent[] = [
    { target: `${list}?limit=20&offset=${n % 400}` },
    { target: `${list}?title__contains=a&limit=${1 + (n % 90)}`, headers: { 'accept-encoding': 'gzip' } },
    { target: `${list}?limit=7&after=${n % 400}`, method: 'HEAD' },
    { target: '/attAuthority.wsdl', method: 'POST', headers, body: call('getTrustedHostInfo', '') },
    { target: `${list}?format=ndjson&after=${n % 400}` },
  ];
  return kinds[n % kinds.length]!;
}

/** Sends requests to a proxy until `stop`, which resolves with their outcome. */
export function loadOn({ url }: Proxy): { answered(): number; stop(): Promise<ProxyTally> } {
  let [isOver, answered] = [false, 0];
  const faults: string[] = [];
  const ask = async (first: number): Promise<void> => {
    const client = clientOf(url);
    for (let n = first; !isOver; n += CLIENTS + 1) {
      const sent = soundRequest(n);
      try {
        const { status, body } = await client.send(sent);
        if (status === 200) answered++;
        else faults.push(`${sent.target}: ${status} ${body.slice(0, 200)}`);
      } catch (error) {
        faults.push(`${sent.target}: ${String(error)}`);
      }
      await delay(PAUSE_MS);
    }
    client.close();
  };
  const asking = Promise.all(Array.from({ length: CLIENTS }, (_, i) => ask(i)));
  const stop = async (): Promise<ProxyTally> => {
    isOver = true;
    await asking;
    return { answered, faults };
  };
  return { answered: () => answered, stop };
}
