// The load client. A separate process, so that its CPU time is not the server's. It runs one order at a time.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { stopped } from '../processes/processes.ts';
import type { Headers } from '../scenarios/scenario.ts';

/**
 * One kind of request, and the expected response: status and Content-Length, which may differ from `bytes` by
 * `bytesSlack`, and the SHA-256 of the body in hex, if there is a `digest`. A request with a body is a POST.
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
 * A task for the client. The exchanges are sent in turn. A request waits for a response before its connection sends
 * another.
 */
export interface LoadOrder {
  readonly port: number;
  /** Ports that the connections take in turn, instead of `port`. */
  readonly ports?: readonly number[];
  readonly exchanges: readonly Exchange[];
  /** Requests in all. */
  readonly requests: number;
  /** Keep-alive connections to 127.0.0.1. */
  readonly connections: number;
  /** A fixed rate, whether or not earlier requests were answered. Without it, as fast as they are. */
  readonly perSecond?: number;
  /** Requests that may fail; their connections are opened again. Without it the first failure ends the order. */
  readonly errorsMax?: number;
  readonly withinMs: number;
}

/** The result of an order. */
export interface LoadOutcome {
  /** Requests that were answered as expected. */
  readonly requests: number;
  readonly errors: number;
  readonly bodyBytes: number;
  /** From the first request to the last response. */
  readonly elapsedMs: number;
  /** Times are from when a request was due, or sent if that was at once, to its last byte. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** The error that ended the order. The numbers then are those before it. */
  readonly fault: string | undefined;
}

/**
 * A running client. `run` rejects if a response is not as expected or the time is over. `enough` ends it with the
 * results so far.
 */
export interface LoadClient {
  readonly pid: number;
  run(order: LoadOrder): Promise<LoadOutcome>;
  enough(): void;
  stop(): Promise<void>;
}

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
