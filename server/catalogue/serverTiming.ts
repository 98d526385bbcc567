// Server-Timing: what an answer says of the time that it took, as browsers and proxies read it (W3C Server Timing).
// Knows no request and has no clock of its own.
import type { Clock } from '../observe/clock.ts';
import type { Answer, Handler } from '../http/exchange.ts';

/** What is timed: the wait for the pool, queue included, and all until the answer is ready to be sent. */
type Timed = 'pool' | 'total';

const HEADER = 'Server-Timing';

/** An answer that says how many milliseconds something took, behind what it says already. Cost: a list of headers. */
export function withTiming(answer: Answer, timed: Timed, ms: number): Answer {
  const said = answer.headers.filter(([name]) => name === HEADER).map(([, value]) => value);
  const others = answer.headers.filter(([name]) => name !== HEADER);
  const value = [...said, `${timed};dur=${ms.toFixed(1)}`].join(', ');
  return { ...answer, headers: [...others, [HEADER, value]] };
}

/**
 * A handler all of whose answers say how long they took to make, those of the pool also how long it was waited for
 * (design: Responses).
 */
export function timedHandler(
  handler: Handler<Answer | Promise<Answer>>,
  clock: Clock,
): Handler<Answer | Promise<Answer>> {
  return (request, disconnection) => {
    const start = clock();
    const told = (answer: Answer): Answer => withTiming(answer, 'total', clock() - start);
    const answer = handler(request, disconnection);
    return answer instanceof Promise ? answer.then(told) : told(answer);
  };
}
