// How the process ends. The first SIGINT or SIGTERM drains; the second ends the process at once, and so does the exit
// of the launcher. The exit codes come from sysexits.h.
import { setTimeout as delay } from 'node:timers/promises';
import type { DrainTime } from '../http/listener.ts';
import { countText } from '../observe/quantities.ts';
import { type Clock, steadyMs } from '../observe/clock.ts';

/** EX_SOFTWARE of sysexits.h: distinguishes a crash from an operational error. */
export const BUG_EXIT = 70;

/**
 * Ends the process at once with an exit code, whatever its threads wait for. `process.exit` would wait for a thread
 * that is in a system call, so the process executes a program that only exits. On systems without that call it aborts
 * (SIGABRT).
 */
export function endAtOnce(code: number): never {
  try {
    process.execve!(process.execPath, [process.execPath, '--eval', `process.exit(${code})`], {});
  } catch {
    // No memory for execve, or no such call.
  }
  process.abort();
}

/** From now on SIGHUP and SIGUSR2 do not end the process, and the launcher forwards both. */
export function outliveSignals(report: (line: string) => void): void {
  reportUnhandled('SIGHUP', () => report('SIGHUP: there is nothing to reload yet'));
  reportUnhandled('SIGUSR2', () => report('SIGUSR2: there is no log to reopen'));
  process.send?.('hears orders');
}

/** Listens to a signal and logs it unless a later listener handles it. */
function reportUnhandled(signal: NodeJS.Signals, report: () => void): void {
  const silentCount = process.listenerCount(signal) + 1;
  process.on(signal, () => {
    if (process.listenerCount(signal) === silentCount) report();
  });
}

/**
 * Notes reload requests that arrive too early to be handled. Returns a function that stops this and says whether there
 * was one.
 */
export function noteReloadSignals(report: (line: string) => void): () => boolean {
  let isOrdered = false;
  const note = (): void => {
    isOrdered = true;
    report('SIGHUP: the data is looked at again once it is served');
  };
  process.on('SIGHUP', note);
  return () => {
    process.off('SIGHUP', note);
    return isOrdered;
  };
}

/** Ends this process as SIGTERM would when its launcher is gone, for whatever reason. */
export function endWithLauncher(): void {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  // Otherwise the listener would keep an idle process alive.
  process.channel?.unref();
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/**
 * Signals this close together count as one: npm may forward the Ctrl-C that the terminal has already sent to the
 * process.
 */
const ONE_PRESS_MS = 500;

/**
 * Resolves to the first SIGINT or SIGTERM. A second one ends the process by that same signal, without exit handlers:
 * ending threads with an open uWebSockets.js App can abort the process. `clock` distinguishes it from an echo of the
 * first.
 */
export function firstSignal(clock: Clock = steadyMs): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstMs: number | undefined;
    // Never removed before the second signal: an echo may arrive after everything has stopped, and must not end the
    // process.
    const onSignal = (signal: NodeJS.Signals): void => {
      if (firstMs === undefined) {
        firstMs = clock();
        resolve(signal);
      } else if (clock() - firstMs >= ONE_PRESS_MS) {
        process.off(signal, onSignal);
        // Without a listener the signal has its default effect: the kernel ends the process.
        process.kill(process.pid, signal);
      }
    };
    for (const signal of SIGNALS) process.on(signal, onSignal);
  });
}

export async function stopOnSignal(
  signal: Promise<NodeJS.Signals>,
  stop: () => Promise<void>,
  report: (line: string) => void,
): Promise<void> {
  report(`draining ... after ${await signal} (a second Ctrl-C ends at once)`);
  await stop();
}

/** For work that may never end: loading data, or a thread that waits for the disk of the audit log. */
const REST_MS_MAX = 5000;

/**
 * Calls the stops in `stops` while the threads drain, and `stopUsed` afterwards. Resolves to the number of cut
 * responses.
 */
export async function allEnded(
  threads: Promise<number>,
  stops: readonly (() => void | Promise<void>)[],
  stopUsed: () => Promise<void> | undefined,
  { graceMs, withinMs }: DrainTime,
): Promise<number> {
  const rest = Promise.all(stops.map(async (stop) => stop()));
  // Awaited below, once the threads have drained.
  rest.catch(() => undefined);
  const cutCount = await within(graceMs + withinMs + REST_MS_MAX, threads);
  await within(REST_MS_MAX, Promise.all([rest, stopUsed()]));
  return cutCount ?? 0;
}

/** Resolves to the result of the work, or to undefined after `ms`. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const late = new AbortController();
  try {
    return await Promise.race([work, delay(ms, undefined, { signal: late.signal })]);
  } finally {
    late.abort();
  }
}

export function cutLine(count: number, seconds: number): string {
  const subject =
    count === 1 ? '1 answer was cut, since it took' : `${countText(count)} answers were cut, since they took`;
  return `${subject} longer than ${seconds} s`;
}

const LINGER_MS_MAX = 1000;

/** Ends a process that has finished its work, but is kept alive by a thread that is loading or waiting for a disk. */
export function endLingering(): void {
  setTimeout(() => endAtOnce(Number(process.exitCode ?? 0)), LINGER_MS_MAX).unref();
}
