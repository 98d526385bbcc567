// A disk of a few megabytes of its own, which can be filled up to the last block and emptied again. For tests that are
// skipped where nothing may be mounted.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A mounted disk. */
export interface SmallDisk {
  readonly folder: string;
  /** Leaves so many bytes free, or a block less. */
  fill(leftBytes: number): void;
  empty(): void;
  unmount(): void;
}

/** Mounts one of 16 MiB below `parent`; undefined where that is refused. */
export function smallDisk(parent: string): SmallDisk | undefined {
  const folder = mkdtempSync(join(parent, 'disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  const filler = join(folder, 'filler');
  return {
    folder,
    fill: (leftBytes) => {
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(filler, new Uint8Array(Math.max(0, bavail * bsize - leftBytes)));
    },
    empty: () => rmSync(filler, { force: true }),
    unmount: () => void execFileSync('umount', ['--lazy', folder], { stdio: 'ignore' }),
  };
}
