import { wholeBody } from '../../engine/engine.ts';
import { type Answer, type Handler, ROUTE } from './exchange.ts';

const HEALTH_PATH = '/healthz';

/** Why a server that serves requests should get none, if so. */
export type Unready = 'draining' | 'stale' | undefined;

/**
 * Sent by proxies without health checks, such as nginx. An unready replica then responds 502, so that the proxy tries
 * the next one.
 */
const READY_ONLY = 'x-ready-only';

const SERVING = answer(200, 'serving');
const UNREADY = { draining: answer(503, 'draining'), stale: answer(503, 'stale') } as const;
const REFUSED = { draining: answer(502, 'draining'), stale: answer(502, 'stale') } as const;
const METHOD_NOT_ALLOWED = answer(405, 'GET and HEAD only', [['Allow', 'GET, HEAD']]);

/**
 * Health checks for load balancers on the public port: responds to the probe, and refuses requests that require a ready
 * replica. Everything else about a server is on its admin port.
 */
export function healthBefore(otherwise: Handler, unready: () => Unready): Handler {
  return (request, disconnection) => {
    const reason = unready();
    if (request.target !== HEALTH_PATH) {
      if (reason === undefined || request.header(READY_ONLY) === undefined) return otherwise(request, disconnection);
      request.route = ROUTE.health;
      return REFUSED[reason];
    }
    request.route = ROUTE.health;
    if (request.method !== 'GET' && request.method !== 'HEAD') return METHOD_NOT_ALLOWED;
    return reason === undefined ? SERVING : UNREADY[reason];
  };
}

function answer(status: number, word: string, headers: Answer['headers'] = []): Answer {
  const body = wholeBody(new TextEncoder().encode(JSON.stringify({ status: word })));
  return { status, headers: [['Content-Type', 'application/json'], ['Cache-Control', 'no-store'], ...headers], body };
}
