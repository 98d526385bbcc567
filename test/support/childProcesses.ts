// Kills what a cancelled test has started. After `--bail` vitest ends its workers by SIGTERM in the middle of a test,
// without its `finally` and hooks. SIGKILL follows after 500 ms, so there is no time for a drain.
import { familyOf } from '../../bench/processes/ending.ts';

export function killChildrenOnSigterm(): void {
  process.once('SIGTERM', () => {
    for (const pid of familyOf(process.pid).slice(1)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // The process has exited.
      }
    }
    process.exit(143);
  });
}
