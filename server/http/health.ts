// Load balancers on the port that clients know: whether this thread takes requests, to the probe and to who wants no
// other one. All else that there is to know of a server is told on its admin port.
import { wholeBody } from '../../engine/engine.ts';
import { type Answer, type Handler, ROUTE } from './exchange.ts';

const HEALTH_PATH = '/healthz';

/** What keeps a server from taking requests though it serves them, where anything does. */
export type Unready = 'draining' | 'stale' | undefined;

/** Proxies without health checks, such as nginx, send it: an unready replica answers 502, so that they ask the next. */
const READY_ONLY = 'x-ready-only';

const SERVING = answer(200, 'serving');
const UNREADY = { draining: answer(503, 'draining'), stale: answer(503, 'stale') } as const;
const REFUSED = { draining: answer(502, 'draining'), stale: answer(502, 'stale') } as const;
const METHOD_NOT_ALLOWED = answer(405, 'GET and HEAD only', [['Allow', 'GET, HEAD']]);

/** Answers the probe, and refuses requests for ready replicas only. */
export function healthBefore(otherwise: Handler, unready: () => Unready): Handler {
  return (request, disconnection) => {
    const why = unready();
    if (request.target !== HEALTH_PATH) {
      if (why === undefined || request.header(READY_ONLY) === undefined) return otherwise(request, disconnection);
      request.route = ROUTE.health;
      return REFUSED[why];
    }
    request.route = ROUTE.health;
    if (request.method !== 'GET' && request.method !== 'HEAD') return METHOD_NOT_ALLOWED;
    return why === undefined ? SERVING : UNREADY[why];
  };
}

function answer(status: number, word: string, headers: Answer['headers'] = []): Answer {
  const body = wholeBody(new TextEncoder().encode(JSON.stringify({ status: word })));
  return { status, headers: [['Content-Type', 'application/json'], ['Cache-Control', 'no-store'], ...headers], body };
}
