// Reads the files that a configuration names, each within its limit; what cannot be read is a mistake of the
// configuration. The authority's only file reader. Called while a configuration is loaded and watched, never while
// requests are answered.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { NO_FILE } from '../../../data/files.ts';
import { reasonOf } from '../../../data/operationError.ts';
import type { Mistakes } from './mistakes.ts';

/** Where a mistake about a file is reported: at the key that names it. */
export interface Place {
  readonly file: string;
  readonly line: number | undefined;
}

/** More is no file of an authority: 100,000 users take about 10 MB. */
const FILE_BYTES_MAX = 256_000_000;

/** The bytes of a file, or undefined with a mistake at `place`. */
export function readBytes(path: string, place: Place, mistakes: Mistakes): Buffer | undefined {
  try {
    const found = statSync(path);
    if (!found.isFile()) addMistake(`cannot be read (${NO_FILE})`, path, place, mistakes);
    else if (found.size > FILE_BYTES_MAX) addMistake(`has more than ${FILE_BYTES_MAX} bytes`, path, place, mistakes);
    else return readFileSync(path);
  } catch (cause) {
    addMistake(`cannot be read (${reasonOf(cause)})`, path, place, mistakes);
  }
  return undefined;
}

/** Names the file where it is another one than that of the place. */
function addMistake(what: string, path: string, { file, line }: Place, mistakes: Mistakes): void {
  mistakes.add(file, line, path === file ? what : `${path} ${what}`);
}

/** The text of a file in UTF-8, without a byte order mark, or undefined with a mistake at `place`. */
export function readText(path: string, place: Place, mistakes: Mistakes): string | undefined {
  const bytes = readBytes(path, place, mistakes);
  if (!bytes) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    addMistake('is not UTF-8', path, place, mistakes);
    return undefined;
  }
}

/**
 * What tells two states of a directory apart: names, sizes and times of its files. `unreadable` where it cannot be read
 * now.
 */
export function directoryStamp(directory: string): string {
  try {
    return readdirSync(directory)
      .toSorted()
      .map((name) => {
        const { size, mtimeMs } = statSync(join(directory, name));
        return `${name} ${size} ${mtimeMs}`;
      })
      .join('\n');
  } catch {
    // A directory that is gone for a moment is another state, and the reload says what is wrong with it.
    return 'unreadable';
  }
}
