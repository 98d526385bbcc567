// How the process ends. The first SIGINT or SIGTERM drains, the second ends the process at once, and so does the end of
// the launcher. sysexits.h names the exit codes.
import { setTimeout as delay } from 'node:timers/promises';
import type { DrainTime } from '../http/listener.ts';
import { countText } from '../observe/quantities.ts';
import { type Clock, steadyMs } from '../observe/clock.ts';

/** EX_SOFTWARE of sysexits.h: tells a crash from a refusal. */
export const BUG_EXIT = 70;

/**
 * Ends the process with a code, at once, whatever its threads wait for: an exit would wait for one that waits for the
 * system, so that the process becomes another one, which only exits. Where the system has no such call, by SIGABRT.
 */
export function endAtOnce(code: number): never {
  try {
    process.execve!(process.execPath, [process.execPath, '--eval', `process.exit(${code})`], {});
  } catch {
    // No memory for it, or no such call.
  }
  process.abort();
}

/** SIGHUP and SIGUSR2 end no process from now on. The launcher forwards both from now on. */
export function outliveSignals(report: (line: string) => void): void {
  reportUnheard('SIGHUP', () => report('SIGHUP: there is nothing to reload yet'));
  reportUnheard('SIGUSR2', () => report('SIGUSR2: there is no log to reopen'));
  process.send?.('hears orders');
}

/** Hears a signal, and reports it unless somebody comes to hear it too; who does already only outlives it. */
function reportUnheard(signal: NodeJS.Signals, report: () => void): void {
  const unheard = process.listenerCount(signal) + 1;
  process.on(signal, () => {
    if (process.listenerCount(signal) === unheard) report();
  });
}

/** Notes orders to reload that come too early to be heeded. Answers what ends that, and says whether there was one. */
export function noteOrders(report: (line: string) => void): () => boolean {
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

/** Ends this process as SIGTERM would when the launcher that started it is gone, however that came. */
export function endWithLauncher(): void {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  // The listener would keep a process alive that has nothing else to do.
  process.channel?.unref();
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** Signals this close together are one: npm may pass on the Ctrl-C that the process has got from the terminal. */
const ONE_PRESS_MS = 500;

/**
 * The first SIGINT or SIGTERM from now on. A second one ends the process by that very signal: no exit handlers, because
 * ending threads with an open uWebSockets.js App can abort the process. `clock` tells it from an echo of the first.
 */
export function firstSignal(clock: Clock = steadyMs): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstMs: number | undefined;
    // Stays: an echo may come when everything has stopped, and must not end the process then either.
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

/** Calls `stop` after the first signal. */
export async function stopOnSignal(
  heard: Promise<NodeJS.Signals>,
  stop: () => Promise<void>,
  report: (line: string) => void,
): Promise<void> {
  report(`draining ... after ${await heard} (a second Ctrl-C ends at once)`);
  await stop();
}

/** For what may never end: data that is being loaded, a thread that waits for the disk of its audit. */
const REST_MS_MAX = 5000;

/** Calls the stops while the threads drain, and `stopUsed` after them. Resolves to the number of cut responses. */
export async function allEnded(
  threads: Promise<number>,
  beside: readonly (() => void | Promise<void>)[],
  stopUsed: () => Promise<void> | undefined,
  { graceMs, withinMs }: DrainTime,
): Promise<number> {
  const rest = Promise.all(beside.map(async (one) => one()));
  // Awaited below, once the threads have drained.
  rest.catch(() => undefined);
  const cut = await within(graceMs + withinMs + REST_MS_MAX, threads);
  await within(REST_MS_MAX, Promise.all([rest, stopUsed()]));
  return cut ?? 0;
}

/** What work gives, or undefined after so long, when nobody waits for it any more. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const late = new AbortController();
  try {
    return await Promise.race([work, delay(ms, undefined, { signal: late.signal })]);
  } finally {
    late.abort();
  }
}

export function cutLine(cut: number, seconds: number): string {
  const which = cut === 1 ? '1 answer was cut, since it took' : `${countText(cut)} answers were cut, since they took`;
  return `${which} longer than ${seconds} s`;
}

const LINGER_MS_MAX = 1000;

/** Ends a process that has stopped and is still there: threads that load data keep it, or one that waits for a disk. */
export function endLingering(): void {
  setTimeout(() => endAtOnce(Number(process.exitCode ?? 0)), LINGER_MS_MAX).unref();
}
