// A folder that is mounted over another by a program, bindfs, which can be stopped: whatever is asked of the mount then
// is never answered, as of a file server that went silent. For tests that are skipped where nothing may be mounted.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A mount of `source` at `folder`. */
export interface SilentMount {
  readonly source: string;
  readonly folder: string;
  /** Answers nothing from now on. */
  silence(): void;
  /** Answers again, what was asked meanwhile too. */
  wake(): void;
  unmount(): void;
}

/** Mounts one below `parent`; undefined where bindfs is missing, or refused. */
export function silentMount(parent: string): SilentMount | undefined {
  const place = mkdtempSync(join(parent, 'mount-'));
  const [source, folder] = [join(place, 'source'), join(place, 'mounted')];
  for (const made of [source, folder]) mkdirSync(made);
  // Nothing is kept: each question is asked of the program.
  const options = ['-o', 'attr_timeout=0,entry_timeout=0,negative_timeout=0'];
  if (spawnSync('bindfs', [...options, source, folder], { stdio: 'ignore' }).status !== 0) return undefined;
  // The kernel learns that bindfs needs no FLUSH. A process that waits for one, because it ends, cannot be killed.
  writeFileSync(join(source, 'first'), '');
  readFileSync(join(folder, 'first'));
  rmSync(join(source, 'first'));
  // It went to the background; its command line names the folder.
  const pid = Number(execFileSync('pgrep', ['--full', `bindfs.*${folder}$`], { encoding: 'utf8' }).trim());
  // By then it waits for requests.
  spawnSync('sleep', ['0.1']);
  const idle = callOf(pid);
  return {
    source,
    folder,
    silence: () => {
      for (;;) {
        process.kill(pid, 'SIGSTOP');
        while (!/\) T/.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));
        // Nothing can kill a process that waits for a request which the stopped program has taken.
        if (callOf(pid) === idle) return;
        process.kill(pid, 'SIGCONT');
      }
    },
    wake: () => process.kill(pid, 'SIGCONT'),
    unmount: () => {
      process.kill(pid, 'SIGCONT');
      execFileSync('umount', ['--lazy', folder], { stdio: 'ignore' });
    },
  };
}

/** The system call of a process that sleeps, with its first argument: a number and a descriptor (proc(5)). */
function callOf(pid: number): string {
  return readFileSync(`/proc/${pid}/syscall`, 'utf8').split(' ').slice(0, 2).join(' ');
}
