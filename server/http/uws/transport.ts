// The main transport: uWebSockets.js listening for one thread, with safeguards. No exception may reach the library: one
// that leaves a callback ends the process.
import { setTimeout as delay } from 'node:timers/promises';
import { HeaderBlocks, type UwsContext, UwsExchange, UwsRequest } from './exchange.ts';
import type { DrainTime, Listener, ListenOptions } from '../listener.ts';
import { liveContext } from '../liveExchange.ts';
import { portRefused } from '../ports.ts';
import { type HttpRequest, type HttpResponse, loadUws, type TemplatedApp, type us_listen_socket } from './library.ts';

/**
 * Listens with uWebSockets.js in the calling thread. The library has fixed behaviour without options: 505 for HTTP/1.0
 * and absolute-form targets, 431 beyond 98 header lines or the head limit, no response to a request without headers or
 * with an unreadable line, and closing of a connection after about 10 s without progress. Throws OperationError `port`
 * if the port is not available.
 */
export async function listenUws(options: ListenOptions): Promise<Listener> {
  const uws = await loadUws();
  const app = uws.App();
  const context: UwsContext = { ...liveContext(options), headerBlocks: new HeaderBlocks() };
  app.any('/*', (response, request) => {
    try {
      receive(context, response, request);
    } catch (error) {
      context.onError(error);
      response.close();
    }
  });
  app.filter((_, change) => void (context.flight.connections += change));
  const socket = listen(app, options);
  if (socket === false) {
    app.close();
    throw portRefused(options.host, options.port);
  }
  // If a thread ends while its App is open, the process dies silently.
  process.once('exit', closeApp);
  function closeApp(): void {
    process.off('exit', closeApp);
    app.close();
  }
  const port = uws.us_socket_local_port(socket);
  const closes = { socket: () => uws.us_listen_socket_close(socket), app: closeApp };
  let drained: Promise<number> | undefined;
  return { port, flight: context.flight, drain: (time) => (drained ??= drain(context, closes, time)) };
}

const EXCLUSIVE_PORT = 1;
const SHARED_PORT = 0;

/** The library calls back before listen() returns. Its declared type lacks the variant with host and options. */
function listen(app: TemplatedApp, { host, port, exclusive }: ListenOptions): us_listen_socket | false {
  let listening: us_listen_socket | false = false;
  const take = app.listen as unknown as ListenWithOptions;
  take.call(app, host, port, exclusive ? EXCLUSIVE_PORT : SHARED_PORT, (socket) => {
    listening = socket;
  });
  return listening;
}

type ListenWithOptions = (
  host: string,
  port: number,
  options: number,
  listening: (socket: us_listen_socket | false) => void,
) => void;

function receive(context: UwsContext, response: HttpResponse, raw: HttpRequest): void {
  const request = new UwsRequest(raw, response);
  const exchange = new UwsExchange(response, request, context);
  exchange.watch(request);
  const framing = request.framing();
  if (framing === 'malformed') exchange.refuse();
  else if (context.flight.isTurnOver(request.query?.length ?? 0)) exchange.answerLater(request, framing);
  else exchange.answer(request, framing);
}

async function drain(context: UwsContext, closes: { socket(): void; app(): void }, time: DrainTime): Promise<number> {
  context.isDraining = true;
  if (time.graceMs > 0) await delay(time.graceMs);
  closes.socket();
  const cutCount = await context.flight.settled(time.withinMs);
  // The last response may have settled inside the library's callback for the connection that is closed here.
  await new Promise((resolve) => setImmediate(resolve));
  closes.app();
  return cutCount;
}
