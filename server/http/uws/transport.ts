// The main transport: uWebSockets.js listening for one thread, with everything around it that keeps it safe. Nothing
// thrown below may reach the library: an exception that leaves a callback of it ends the process.
import { BodyBudget } from '../bodyCollector.ts';
import { isIntake, type Answer, type Handler } from '../exchange.ts';
import { Flight } from '../flight.ts';
import { HeaderBlocks } from './headerBlock.ts';
import type { Listener, ListenOptions } from '../listener.ts';
import { portRefused } from '../ports.ts';
import { UwsExchange, type UwsContext } from './exchange.ts';
import { loadUws, type HttpRequest, type HttpResponse, type TemplatedApp, type us_listen_socket } from './library.ts';
import { UwsRequest } from './request.ts';

/**
 * Listens with uWebSockets.js in the calling thread. What the library decides itself and no option changes: 505 to
 * HTTP/1.0 and to absolute-form targets, 431 beyond 98 header lines or the head limit, no answer to a request without
 * any header or with a line it cannot read, and the end of a connection after about 10 s without progress. Throws
 * OperationError `port` when the port cannot be taken.
 */
export async function listenUws(options: ListenOptions): Promise<Listener> {
  const uws = await loadUws();
  const app = uws.App();
  // Later and outside the library's callbacks, so that an observer that throws is an ordinary uncaught exception.
  const onError = (error: unknown): void => void setImmediate(() => options.onError(error));
  const context: UwsContext = {
    flight: new Flight(),
    headerBlocks: new HeaderBlocks(),
    budget: new BodyBudget(),
    isDraining: false,
    onError,
  };
  app.any('/*', (response, request) => {
    try {
      receive(context, options.handler, response, request);
    } catch (error) {
      onError(error);
      response.close();
    }
  });
  const socket = listen(app, options);
  if (socket === false) {
    app.close();
    throw portRefused(options.host, options.port);
  }
  const close = (): void => uws.us_listen_socket_close(socket);
  const port = uws.us_socket_local_port(socket);
  let drained: Promise<void> | undefined;
  return { port, drain: (withinMs) => (drained ??= drain(app, context, close, withinMs)) };
}

const EXCLUSIVE_PORT = 1;
const SHARED_PORT = 0;

/** The library calls back before listen() returns. Its declared type lacks the form with host and options. */
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

function receive(context: UwsContext, handler: Handler, response: HttpResponse, raw: HttpRequest): void {
  const request = new UwsRequest(raw, response);
  const exchange = new UwsExchange(response, request.method === 'HEAD', context);
  const framing = request.framing();
  if (framing === 'malformed') return exchange.refuse();
  const answer = exchange.ask(handler, request);
  const declaredBytes = isIntake(answer) ? request.declaredBytes() : undefined;
  request.bury();
  if (isIntake(answer)) exchange.takeBody(answer, declaredBytes);
  else if (framing === 'oversized') void exchange.sendLater(closing(answer), false);
  else if (framing === 'body') void exchange.sendLater(answer, true);
  else if (answer instanceof Promise) void exchange.sendLater(answer, false);
  else exchange.send(answer);
}

async function closing(answer: Answer | Promise<Answer>): Promise<Answer> {
  return { ...(await answer), close: true };
}

async function drain(app: TemplatedApp, context: UwsContext, close: () => void, withinMs: number): Promise<void> {
  context.isDraining = true;
  close();
  await context.flight.settled(withinMs);
  // The last answer may have settled inside the library's callback for the very connection that is closed here.
  await new Promise((resolve) => setImmediate(resolve));
  app.close();
}
