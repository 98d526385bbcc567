// Where the metrics are asked for: GET /metrics on a port of the supervisor's own, so that counting takes nothing from
// serving threads and no proxy hands it out. Knows no metric.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { boundPort, portRefused } from '../http/ports.ts';

/** A listener. `stop` ends it at once: nobody needs the last scrape. */
export interface MetricsListener {
  readonly port: number;
  stop(): void;
}

/** The text format of Prometheus. */
const TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Serves what `text` gives now. Port 0 takes a free one. Throws OperationError `port` when it cannot be taken. */
export async function listenForMetrics(host: string, port: number, text: () => string): Promise<MetricsListener> {
  const server = createServer((request, response) => {
    const isFound = request.method === 'GET' && request.url === '/metrics';
    response.writeHead(isFound ? 200 : 404, { 'Content-Type': TYPE }).end(isFound ? text() : '');
  });
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
  } catch (cause) {
    throw portRefused(host, port, cause, '--metrics-port');
  }
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port: boundPort(server.address()), stop };
}
