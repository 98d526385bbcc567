// Snapshots on their way from a target to replicas: `releaseOf` makes a generation, `published` publishes it,
// `serveFolder` serves a folder target over HTTP, `startFollower` and `watchingReplicas` start servers that subscribe.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect } from 'vitest';
import { openPublishingTarget } from '../../data/distribution/openTarget.ts';
import { type PublishOptions, type PublishReport, publishSnapshot } from '../../data/distribution/publish.ts';
import {
  decodePointer,
  objectNames,
  type Pointer,
  POINTER_NAME,
  type PublishingTarget,
  type TargetAccess,
} from '../../data/distribution/target.ts';
import { type CommandOptions, type CommandProcess, runCommand } from './commandProcess.ts';
import { dataSetOf, imported } from './dataSets.ts';

export interface Release {
  readonly file: string;
  readonly generation: string;
}

/** A small snapshot of a day of January 2026, or without a date; another `text` gives another generation. */
export async function releaseOf(parent: string, day: number | undefined, text = 'a note'): Promise<Release> {
  const record = JSON.stringify({ ob_id: 7, note: `${text} of ${day}` });
  const created = day === undefined ? undefined : `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`;
  const { file, report } = await imported(dataSetOf(parent, { 'notes.ndjson': `${record}\n` }), { created });
  return { file, generation: report.generation };
}

export function newFolder(parent: string): { readonly folder: string; readonly url: string } {
  const folder = mkdtempSync(join(parent, 'target-'));
  return { folder, url: pathToFileURL(folder).href };
}

/** Publishes in this process, to a URL or to an open target. */
export async function published(
  to: string | PublishingTarget,
  { file }: Pick<Release, 'file'>,
  options: Partial<PublishOptions> = {},
): Promise<PublishReport> {
  const target = typeof to === 'string' ? await openPublishingTarget(to) : to;
  try {
    return await publishSnapshot({ file, target, allowRollback: false, ...options }, () => undefined);
  } finally {
    if (typeof to === 'string') await target.close();
  }
}

/** The pointer of a folder, if it has one. Checks that its objects exist with the bytes that their names promise. */
export function wholePointer(folder: string): Pointer | undefined {
  const file = join(folder, POINTER_NAME);
  if (!existsSync(file)) return undefined;
  const pointer = decodePointer(readFileSync(file, 'utf8'), folder);
  for (const name of objectNames(pointer)) {
    const sum = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    expect(name.startsWith(sum)).toBe(true);
  }
  return pointer;
}

/** The names in a folder that are neither objects nor the pointer. */
export function strayNames(folder: string): readonly string[] {
  return readdirSync(folder).filter(
    (name) => name !== POINTER_NAME && !/^[0-9a-f]{64}\.(snapshot|deflate)$/.test(name),
  );
}

/** The fields of `/status` about a target and the served data. */
export interface FollowerStatus {
  readonly status: string;
  readonly reason?: string;
  readonly data?: { readonly generation: string };
  readonly lastChange: { readonly status: string; readonly reason?: string } | null;
  readonly target: {
    readonly generation: string | null;
    readonly sequence: number | null;
    readonly created: string | null;
    readonly staleSeconds: number | null;
    readonly heldBack: boolean;
    readonly lastSuccess: string | null;
    readonly lastFailure: { readonly reason: string } | null;
    readonly lastFetch: { readonly generation: string; readonly bytes: number; readonly seconds: number } | null;
    readonly kept: readonly string[];
  };
}

/** The outcome of a reload or rollback. */
interface Ordered {
  readonly status: string;
  readonly served: string;
  readonly reason?: string;
}

/** A server that follows a target. Its admin port responds before it has any data to serve. */
export interface Follower extends CommandProcess {
  status(): Promise<FollowerStatus>;
  livez(): Promise<number>;
  readyz(): Promise<{ readonly code: number; readonly status: string; readonly reason?: string }>;
  /** Requests that it loads the current data. */
  reload(): Promise<Ordered>;
  /** Requests that it serves the previous generation again. */
  rollback(): Promise<Ordered>;
  metrics(): Promise<string>;
}

/** Starts a follower that polls as often as possible, and waits for its admin port only. */
export async function startFollower(
  from: string,
  cache: string,
  words: readonly string[] = [],
  options: Parameters<typeof runCommand>[1] = {},
): Promise<Follower> {
  const flags = ['--from', from, '--cache', cache, '--poll', '100ms', '--port', '0', '--admin-port', '0'];
  const command = runCommand(['serve', ...flags, '--threads', '1', '--gzip', 'live', ...words], options);
  const [, origin] = await command.printed(/admin on (http:\S+)\/status/);
  const read = async (path: string, method = 'GET'): Promise<{ code: number; body: unknown }> => {
    const answer = await fetch(`${origin}${path}`, { method });
    return { code: answer.status, body: await answer.json() };
  };
  return {
    ...command,
    status: async () => (await read('/status')).body as FollowerStatus,
    livez: async () => (await fetch(`${origin}/livez`, { signal: AbortSignal.timeout(5000) })).status,
    readyz: async () => {
      const { code, body } = await read('/readyz');
      return { code, ...(body as { status: string; reason?: string }) };
    },
    reload: async () => (await read('/reload', 'POST')).body as Ordered,
    rollback: async () => (await read('/rollback', 'POST')).body as Ordered,
    metrics: async () => (await fetch(`${origin}/metrics`)).text(),
  };
}

/** Changes how a folder is served. Returns true if it has sent a response itself. */
export type Misbehaviour = (request: IncomingMessage, response: ServerResponse, file: string) => boolean;

/** A folder over HTTP. `misbehave` is called first; `asked` has the paths so far, with their ranges. */
export interface FolderServer {
  readonly url: string;
  readonly asked: string[];
  misbehave: Misbehaviour;
  close(): void;
}

/** Serves a folder with tags and ranges until `misbehave` changes that. */
export async function serveFolder(folder: string): Promise<FolderServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const file = join(folder, request.url!.slice(1));
    asked.push([request.url, request.headers.range].filter(Boolean).join(' '));
    if (self.misbehave(request, response, file)) return;
    if (!existsSync(file)) return void response.writeHead(404).end();
    const body = readFileSync(file);
    const etag = `"${statSync(file).mtimeMs}-${body.length}"`;
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end();
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    if (start === 0) return void response.writeHead(200, { etag }).end(body);
    const range = `bytes ${start}-${body.length - 1}/${body.length}`;
    response.writeHead(206, { etag, 'content-range': range }).end(body.subarray(start));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const self: FolderServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    asked,
    misbehave: () => false,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return self;
}

/** The snapshots in a cache, and the other names in it. */
export function cacheOf(directory: string): {
  readonly snapshots: readonly string[];
  readonly others: readonly string[];
} {
  const names = existsSync(directory) ? readdirSync(directory).toSorted() : [];
  const snapshots = names.filter((name) => name.endsWith('.snapshot'));
  return { snapshots, others: names.filter((name) => !snapshots.includes(name)) };
}

/** The longest wait for something that a cluster has to settle first. */
export const WATCH_POLL = { timeout: 60_000, interval: 100 };
/** As WATCH_POLL, plus time for a download: a read that hangs is detected within 60 s and repeated. */
const FETCH_POLL = { ...WATCH_POLL, timeout: 150_000 };

/** Starts replicas with separate caches in a directory, and opens targets. */
export interface WatchingReplicas {
  replica(from: string, words?: readonly string[], options?: CommandOptions): Promise<Follower>;
  opened(url: string, access?: TargetAccess): Promise<PublishingTarget>;
}

/** For the tests of a file, with the file's directory. */
export function watchingReplicas(directory: string): WatchingReplicas {
  const replicas: Follower[] = [];
  const targets: PublishingTarget[] = [];
  afterEach(async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.kill()));
    await Promise.all(targets.splice(0).map((target) => target.close()));
  });
  return {
    replica: async (from, words = [], options = {}) => {
      const cache = join(mkdtempSync(join(directory, 'cache-')), 'cache');
      const started = await startFollower(from, cache, ['--poll', '1d', ...words], options);
      replicas.push(started);
      return started;
    },
    opened: async (url, access = {}) => {
      const target = await openPublishingTarget(url, access);
      targets.push(target);
      return target;
    },
  };
}

/** Waits until a replica serves a generation. A failure contains the replica's output. */
export async function servesAtLast(server: Follower, { generation }: Pick<Release, 'generation'>): Promise<void> {
  let status: FollowerStatus | undefined;
  const served = async (): Promise<string | undefined> => {
    status = await server.status();
    return status.data?.generation;
  };
  try {
    await expect.poll(served, FETCH_POLL).toBe(generation);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${JSON.stringify(status)}\n${server.out()}${server.err()}`, {
      cause: error,
    });
  }
}
