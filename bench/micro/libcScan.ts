// memmem of libc as a calibration: a program of libcScan.c, compiled if the machine has a C compiler. The process
// removes its files.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../processes/ending.ts';

/** One search of a text: the number of matches, and the median time of a run in nanoseconds. */
export interface LibcScan {
  readonly count: number;
  readonly nanoseconds: number;
}

const SOURCE = fileURLToPath(new URL('./libcScan.c', import.meta.url));

/**
 * Searches a text for `batchMs`. Undefined without a C compiler. Cost of making it: a copy of the text, a compilation.
 */
export function libcScanner(text: Uint8Array): ((needle: string, batchMs: number) => LibcScan) | undefined {
  const directory = temporaryFolder('catalogue-bench-').path;
  const [program, file] = [join(directory, 'libcScan'), join(directory, 'text')];
  if (spawnSync('cc', ['-O2', '-o', program, SOURCE]).status !== 0) return undefined;
  writeFileSync(file, text);
  return (needle, batchMs) => {
    const { status, stdout } = spawnSync(program, [file, needle, String(Math.ceil(batchMs))], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`the search with memmem ended with ${status}`);
    const [count = 0, nanoseconds = 0] = stdout.trim().split(' ').map(Number);
    return { count, nanoseconds };
  };
}
