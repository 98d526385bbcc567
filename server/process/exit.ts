// How the process ends that cannot go on: which code it has, and how it gets it whatever its threads do.
// sysexits.h names the codes.

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
