import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A mounted file system that can be filled up to the last block and emptied again. */
export interface SmallDisk {
  readonly folder: string;
  /** Leaves this many bytes free, or a block less. */
  fill(leftBytes: number): void;
  empty(): void;
  unmount(): void;
}

/** Mounts 16 MiB of tmpfs below `parent`. Returns undefined if mounting is not permitted: such tests are skipped. */
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
