// The probe of load balancers on the port that clients know: whether this thread takes requests. All else that there is
// to know of a server is told on its admin port.
import { wholeBody } from '../../engine/engine.ts';
import { type Answer, type Handler, ROUTE } from './exchange.ts';

/** Where it is asked for. */
const HEALTH_PATH = '/healthz';

const SERVING = answer(200, 'serving');
const DRAINING = answer(503, 'draining');
const METHOD_NOT_ALLOWED = answer(405, 'GET and HEAD only', [['Allow', 'GET, HEAD']]);

/** A handler that answers the probe, 503 once the server drains; every other path is the other handler's. */
export function healthBefore(otherwise: Handler, isDraining: () => boolean): Handler {
  return (request, disconnection) => {
    if (request.target !== HEALTH_PATH) return otherwise(request, disconnection);
    request.route = ROUTE.health;
    if (request.method !== 'GET' && request.method !== 'HEAD') return METHOD_NOT_ALLOWED;
    return isDraining() ? DRAINING : SERVING;
  };
}

function answer(status: number, word: string, headers: Answer['headers'] = []): Answer {
  const body = wholeBody(new TextEncoder().encode(JSON.stringify({ status: word })));
  return { status, headers: [['Content-Type', 'application/json'], ['Cache-Control', 'no-store'], ...headers], body };
}
