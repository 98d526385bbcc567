// The admin listener: what operators and their tools ask of a server, on a port of the supervisor's own, so that it
// takes nothing from serving threads and no proxy hands it out. Speaks for what it is given and knows none of it.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { boundPort, portRefused } from '../http/ports.ts';

/** What it answers with: a status, and a text of a media type. */
export interface AdminAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** What it speaks for, by path: each gives its answer now. A rejection is answered with 500. */
export type AdminPaths = Readonly<Record<string, () => AdminAnswer | Promise<AdminAnswer>>>;

/** A listener. `stop` ends it at once. */
export interface AdminListener {
  readonly port: number;
  stop(): void;
}

/** Where it listens, and who is told of a bug. */
export interface AdminOptions {
  readonly host: string;
  readonly port: number;
  onError(error: unknown): void;
}

/** Answers GET and HEAD of these paths. Port 0 takes a free one. Throws OperationError `port` when it is refused. */
export async function listenForAdmin({ host, port, onError }: AdminOptions, paths: AdminPaths): Promise<AdminListener> {
  const server = createServer((request, response) => {
    answerTo(paths, request).then(
      (answer) => send(response, answer),
      (error: unknown) => {
        onError(error);
        send(response, problem(500, 'Internal server error.'));
      },
    );
  });
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
  } catch (cause) {
    throw portRefused(host, port, cause, '--admin-port');
  }
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port: boundPort(server.address()), stop };
}

const ALLOW = 'GET, HEAD';

async function answerTo(paths: AdminPaths, { method, url = '' }: IncomingMessage): Promise<AdminAnswer> {
  const [path = ''] = url.split('?', 1);
  const ask = Object.hasOwn(paths, path) ? paths[path] : undefined;
  if (!ask) return problem(404, `Not found; here are ${Object.keys(paths).join(', ')}.`);
  if (method !== 'GET' && method !== 'HEAD') return problem(405, `Method "${method}" not allowed; want ${ALLOW}.`);
  return ask();
}

function problem(status: number, detail: string): AdminAnswer {
  return jsonAnswer(status, { detail });
}

/** An answer of JSON, laid out for people. */
export function jsonAnswer(status: number, value: unknown): AdminAnswer {
  return { status, type: 'application/json', text: `${JSON.stringify(value, null, 2)}\n` };
}

function send(response: ServerResponse, { status, type, text }: AdminAnswer): void {
  const headers = { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text), 'Cache-Control': 'no-store' };
  // To HEAD, node:http sends no body.
  response.writeHead(status, status === 405 ? { ...headers, Allow: ALLOW } : headers).end(text);
}
