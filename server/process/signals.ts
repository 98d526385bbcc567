// How a server ends: the first SIGINT or SIGTERM drains, the second ends the process at once, and so does the end of
// whoever launched it. Other signals that end a process by default end no server.
import { steadyMs, type Clock } from '../observe/clock.ts';

/**
 * From now on SIGHUP is for whoever reloads something and SIGUSR2 for whoever reopens a log (listeners of their own),
 * or it is reported that there is nothing to do, and SIGUSR1 opens no inspector. A launcher passes such orders on from
 * now on.
 */
export function outliveSignals(report: (line: string) => void): void {
  reportUnheard('SIGHUP', () => report('SIGHUP: there is nothing to reload yet'));
  process.on('SIGUSR1', () => undefined);
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

/** Ends this process as SIGTERM would when the launcher that started it is gone, however that came. */
export function endWithLauncher(): void {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  // The listener would keep a process alive that has nothing else to do.
  process.channel?.unref();
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/**
 * Signals this close together are one. A terminal sends Ctrl-C to every process in it, and npm passes on the one it
 * got: after `npm start` a server hears one key twice where npm's shell has given way to it (not every shell does).
 */
const ONE_PRESS_MS = 500;

/**
 * Waits for a signal, reports `draining ...` and which it was, calls `stop` and resolves when it did. A second signal
 * ends the process by that very signal: no exit handlers, because ending threads with an open uWebSockets.js App can
 * abort the process. `clock` tells it from an echo of the first. Rejects with what `stop` rejects with.
 */
export async function stopOnSignal(
  stop: () => Promise<void>,
  report: (line: string) => void,
  clock: Clock = steadyMs,
): Promise<void> {
  const signal = await firstSignal(clock);
  report(`draining ... after ${signal} (a second Ctrl-C ends at once)`);
  await stop();
}

/** The listeners stay: an echo may come when everything has stopped, and must not end the process then either. */
function firstSignal(clock: Clock): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstMs: number | undefined;
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
