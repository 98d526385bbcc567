// How a server ends: the first SIGINT or SIGTERM drains, the second ends the process at once.
// Called by the serve command, after the server listens; before that a signal has its default effect.

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Waits for a signal, reports `draining ...`, calls `stop` and resolves when it did. A second signal ends the process by
 * that very signal: no exit handlers, because ending threads with an open uWebSockets.js App can abort the process.
 * Rejects with what `stop` rejects with.
 */
export async function stopOnSignal(stop: () => Promise<void>, report: (line: string) => void): Promise<void> {
  await firstSignal();
  report('draining ... (a second Ctrl-C ends at once)');
  try {
    await stop();
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSecond);
  }
}

function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    const onFirst = (): void => {
      // In this order: without any listener, even for a moment, a second signal would be the default one.
      for (const signal of SIGNALS) process.on(signal, onSecond).off(signal, onFirst);
      resolve();
    };
    for (const signal of SIGNALS) process.on(signal, onFirst);
  });
}

function onSecond(signal: NodeJS.Signals): void {
  process.off(signal, onSecond);
  // Without a listener the signal has its default effect: the kernel ends the process.
  process.kill(process.pid, signal);
}
