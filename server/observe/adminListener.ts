// The admin listener for operators and their tools. It has a separate port in the supervisor, so that it takes nothing
// from serving threads and no proxy exposes it. The caller provides its paths.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import ipaddr from 'ipaddr.js';
import { boundPort, portRefused } from '../http/ports.ts';

export interface AdminAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** By path: `views` respond to GET and HEAD, `commands` to POST. A rejection becomes a 500. */
export interface AdminPaths {
  readonly views: AdminAnswers;
  readonly commands: AdminAnswers;
}

export type AdminAnswers = Readonly<Record<string, () => AdminAnswer | Promise<AdminAnswer>>>;

/**
 * Far more connections than operators and their tools open. There is a limit because the serving threads share the
 * descriptors of the process.
 */
const CONNECTIONS_MAX = 64;
/** Time limit for a complete request, from the opening of its connection. */
const REQUEST_MS_MAX = 10_000;

export interface AdminOptions {
  readonly host: string;
  readonly port: number;
  /** Default: REQUEST_MS_MAX. */
  readonly requestMsMax?: number;
  /** Called with bugs. */
  onError(error: unknown): void;
}

/** Port 0 uses a free one. Throws OperationError `port`. */
export async function listenForAdmin(
  { host, port, requestMsMax: headersTimeout = REQUEST_MS_MAX, onError }: AdminOptions,
  paths: () => AdminPaths,
) {
  let isForHere = true;
  const times = { headersTimeout, requestTimeout: headersTimeout, connectionsCheckingInterval: headersTimeout / 5 };
  const server = createServer(times, (request, response) => {
    const { host: name } = request.headers;
    const isMeant = !isForHere || name === undefined || NAMED_HERE.test(name);
    (isMeant ? answerTo(paths(), request) : Promise.resolve(MISNAMED)).then(
      (answer) => send(response, answer),
      (error: unknown) => {
        onError(error);
        send(response, problem(500, 'Internal server error.'));
      },
    );
  });
  server.maxConnections = CONNECTIONS_MAX;
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    isForHere = isLoopback(server.address());
  } catch (cause) {
    throw portRefused(host, port, cause, '--admin-port');
  }
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port: boundPort(server.address()), stop };
}

/**
 * An address or localhost. Protects against DNS rebinding: a page in an operator's browser may resolve another name to
 * this port.
 */
const NAMED_HERE = /^(?:localhost|[\d.]+|\[[\da-f:.]+\])(?::\d+)?$/i;
const MISNAMED = problem(403, 'Name this port by its address or as localhost.');

/** Whether an address can only be reached from this host. */
function isLoopback(bound: ReturnType<Server['address']>): boolean {
  return typeof bound === 'object' && bound !== null && ipaddr.process(bound.address).range() === 'loopback';
}

const VIEW_METHODS = ['GET', 'HEAD'];
const COMMAND_METHODS = ['POST'];

async function answerTo(
  { views, commands }: AdminPaths,
  { method = '', url = '', headers }: IncomingMessage,
): Promise<AdminAnswer> {
  const [path = ''] = url.split('?', 1);
  const isCommand = Object.hasOwn(commands, path);
  const ask = isCommand ? commands[path] : Object.hasOwn(views, path) ? views[path] : undefined;
  if (!ask) return problem(404, `Not found; here are ${Object.keys({ ...views, ...commands }).join(', ')}.`);
  const allowed = isCommand ? COMMAND_METHODS : VIEW_METHODS;
  const allow = allowed.join(', ');
  if (!allowed.includes(method)) {
    return { ...problem(405, `Method "${method}" not allowed; want ${allow}.`), headers: { Allow: allow } };
  }
  // Protects against requests from a page in an operator's browser, which carry an Origin.
  if (isCommand && headers.origin !== undefined) return problem(403, 'No orders are taken from web pages.');
  return ask();
}

function problem(status: number, detail: string): AdminAnswer {
  return jsonAnswer(status, { detail });
}

export function jsonAnswer(status: number, value: unknown): AdminAnswer {
  return { status, type: 'application/json', text: `${JSON.stringify(value, null, 2)}\n` };
}

function send(response: ServerResponse, { status, type, text, headers = {} }: AdminAnswer): void {
  const defaults = { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text), 'Cache-Control': 'no-store' };
  // node:http sends no body in response to HEAD.
  response.writeHead(status, { ...defaults, ...headers }).end(text);
}
