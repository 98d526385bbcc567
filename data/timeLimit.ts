// A time limit for work on paths that may be on a mount. If the server of a mount does not respond, calls hang and
// cannot be cancelled. Each of them blocks one of the four threads with which libuv reads files and resolves names.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { OperationError } from './operationError.ts';

/** Longer than any stall of a working disk or mount. */
const LIMIT_MS = 10_000;
/** Limit of concurrent calls in the process: two threads of libuv stay free. */
const CALLS_MAX = 2;

/** The errors of calls that hang. Their callers no longer wait. */
const hung = new Map<string, OperationError>();
const running = new Map<string, Promise<unknown>>();

/**
 * Does work on a path after earlier work on it has returned. Throws OperationError `network` after `limitMs`, or when
 * `signal` is aborted. While that work still hangs, other work on the path fails immediately with the same error. While
 * two calls hang, all work fails. Must not be nested.
 */
export async function withTimeLimit<T>(
  file: string,
  work: () => Promise<T>,
  limitMs = LIMIT_MS,
  signal?: AbortSignal,
): Promise<T> {
  const key = path.resolve(file);
  for (;;) {
    const earlier = running.get(key);
    if (hung.has(key)) throw hung.get(key)!;
    if (!earlier && running.size + hung.size < CALLS_MAX) break;
    if (running.size === 0)
      throw new OperationError('network', `${file}: not read while ${[...hung.keys()].join(' and ')} do not answer`);
    await (earlier ?? Promise.race(running.values())).catch(() => undefined);
  }
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  running.set(key, promise);
  const rejectWith = (reason: string): void => {
    const failure = new OperationError('network', `${file}: ${reason}`);
    running.delete(key);
    hung.set(key, failure);
    reject(failure);
  };
  const timer = setTimeout(rejectWith, limitMs, `no answer within ${limitMs / 1000} s`);
  const onAbort = ({ target }: Event): void =>
    rejectWith(`no longer awaited (${String((target as AbortSignal).reason)})`);
  signal?.addEventListener('abort', onAbort);
  const end = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    for (const those of [running, hung]) those.delete(key);
  };
  work().finally(end).then(resolve, reject);
  return promise;
}

/** Throws like withTimeLimit if a path in `folder` does not respond. Call it before synchronous reads. */
export async function assertAnswers(file: string, folder = file): Promise<void> {
  await withTimeLimit(folder, async () => {
    // O_NONBLOCK: opening a pipe would wait for its writer.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
    await handle?.close();
  });
}
