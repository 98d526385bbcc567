// The load client: a process of its own, so that its CPU time is not the server's. One order at a time.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { stopped } from '../processes/processes.ts';
import type { Headers } from '../scenarios/scenario.ts';

/**
 * One kind of request, and what every answer to it must have: status and Content-Length, which may miss `bytes` by
 * `bytesSlack`; where there is a `digest`, the SHA-256 of the body in hex. With a body it is a POST.
 */
export interface Exchange {
  readonly target: string;
  readonly headers?: Headers;
  readonly body?: string;
  readonly status: number;
  readonly bytes: number;
  readonly bytesSlack?: number;
  readonly digest?: string;
}

/**
 * What the client is to do: `requests` in all on `connections` keep-alive connections to 127.0.0.1, one at a time on
 * each, the exchanges in turn; as fast as they are answered, or `perSecond` of them, whether or not those before are
 * answered: a request that finds no connection idle has begun when it was due. With `ports` the connections
 * take these in turn. Up to `errorsMax` requests may fail, on connections that are then opened again; without it the
 * first failure ends the order. It gives up after `withinMs`.
 */
export interface LoadOrder {
  readonly port: number;
  readonly ports?: readonly number[];
  readonly exchanges: readonly Exchange[];
  readonly requests: number;
  readonly connections: number;
  readonly perSecond?: number;
  readonly errorsMax?: number;
  readonly withinMs: number;
}

/**
 * What came of an order: `requests` that were answered, `errors` that were not, or wrongly; `fault` says what was
 * wrong, and then the numbers are those up to there. `elapsedMs` is from the first request to the last answer, `p99Ms`
 * what 99 % of the answers took at most, from when the request was due, or sent where that was at once, to their last
 * byte.
 */
export interface LoadOutcome {
  readonly requests: number;
  readonly errors: number;
  readonly bodyBytes: number;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly fault: string | undefined;
}

/**
 * A client that is running. `run` rejects when an answer is not as it must be, or time is over; `enough` ends it with
 * what it has.
 */
export interface LoadClient {
  readonly pid: number;
  run(order: LoadOrder): Promise<LoadOutcome>;
  enough(): void;
  stop(): Promise<void>;
}

/** Starts the client. */
export function startLoadClient(): LoadClient {
  const child = fork(fileURLToPath(new URL('./loadProcess.ts', import.meta.url)));
  return {
    pid: child.pid!,
    run: (order) =>
      new Promise((resolve, reject) => {
        const onExit = (code: number | null): void => reject(new Error(`the load client ended with ${code}`));
        child.once('exit', onExit);
        child.once('message', (message) => {
          child.off('exit', onExit);
          const outcome = message as LoadOutcome;
          if (outcome.fault === undefined) resolve(outcome);
          else reject(new Error(outcome.fault));
        });
        child.send(order);
      }),
    enough: () => void child.send('enough'),
    stop: () => stopped(child),
  };
}
