// Servers that follow a target, what they say of it, and a target of a test's own: the folder of a publisher behind an
// HTTP server that can be told to misbehave.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type CommandProcess, runCommand } from './commandProcess.ts';

/** What `/status` says of a target, and of what is served. */
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

/** What came of an order. */
interface Ordered {
  readonly status: string;
  readonly served: string;
  readonly reason?: string;
}

/** A server that follows a target; its admin port answers before it has anything to serve. */
export interface Follower extends CommandProcess {
  status(): Promise<FollowerStatus>;
  livez(): Promise<number>;
  readyz(): Promise<{ readonly code: number; readonly status: string; readonly reason?: string }>;
  /** Orders it to take what there is now. */
  reload(): Promise<Ordered>;
  /** Orders it to serve the generation before again. */
  rollback(): Promise<Ordered>;
  metrics(): Promise<string>;
}

/** Starts one, with questions as often as may be, and waits for its admin port only. */
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

/** How a folder is handed out: answers true where it has answered itself. */
export type Misbehaviour = (request: IncomingMessage, response: ServerResponse, file: string) => boolean;

/** A folder behind HTTP. `misbehave` is asked first; `asked` are the paths so far, with their ranges. */
export interface FolderServer {
  readonly url: string;
  readonly asked: string[];
  misbehave: Misbehaviour;
  close(): void;
}

/** Hands a folder out, with tags and ranges, until something else is asked of it. */
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

/** The snapshots in a cache, and what else lies there. */
export function cacheOf(directory: string): {
  readonly snapshots: readonly string[];
  readonly others: readonly string[];
} {
  const names = existsSync(directory) ? readdirSync(directory).toSorted() : [];
  const snapshots = names.filter((name) => name.endsWith('.snapshot'));
  return { snapshots, others: names.filter((name) => !snapshots.includes(name)) };
}
