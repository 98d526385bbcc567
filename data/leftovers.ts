// Files that must not outlive the process: removed when a signal ends it while they are being written. For what
// `finally` cannot do, since a signal runs no `finally`.
import { rmSync } from 'node:fs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs work. A signal that would end the process meanwhile removes the file or directory `path`, which need not exist,
 * and then ends it as it would have; work that holds the thread delays that. A SIGHUP that somebody else heeds ends
 * nothing. The promise is that of the work, which removes `path` itself in every other case.
 */
export async function removedBySignal<T>(path: string, work: () => Promise<T>): Promise<T> {
  const forget = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (signal === 'SIGHUP' && process.listenerCount(signal) > 1) return;
    forget();
    rmSync(path, { recursive: true, force: true });
    // Without a listener the signal has its default effect; one that is left has something of its own to do first.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    return await work();
  } finally {
    forget();
  }
}
