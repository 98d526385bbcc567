// Reads the files of a configuration and collects all errors in them, so that an operator can fix them together.
import { type Place, placeText } from '../../settings/toml.ts';
import { isUtf8 } from 'node:buffer';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { NO_FILE, readAtMost } from '../../../data/files.ts';
import { OperationError, reasonOf } from '../../../data/operationError.ts';
import { isStarved } from '../../../workers/starvation.ts';

export interface Mistake extends Place {
  readonly message: string;
}

/** Errors, sorted by first mention of their file, then by line. Beyond a limit only their number is kept. */
export interface Mistakes {
  add(place: Place, message: string): void;
  readonly all: readonly Mistake[];
}

/**
 * Limit of listed errors: a file of the wrong kind could have one in every line. Once these are fixed, the next load
 * lists the others.
 */
const LISTED_MAX = 1000;

export function noMistakes(): Mistakes {
  const list: Mistake[] = [];
  let unlisted = 0;
  return {
    add(place, message) {
      if (list.length < LISTED_MAX) list.push({ ...place, message });
      else unlisted++;
    },
    get all() {
      const files = [...new Set(list.map(({ file }) => file))];
      const listed = files.flatMap((name) =>
        list.filter(({ file }) => file === name).sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
      );
      return unlisted === 0 ? listed : [...listed, { file: files[0]!, message: `and ${unlisted} more mistakes` }];
    },
  };
}

export function mistakeText(mistake: Mistake): string {
  return `${placeText(mistake)}: ${mistake.message}`;
}

/** Limits of the files (A107), so that each is read and checked within seconds. 100,000 users take 5 to 10 MB. */
export const FILE_BYTES_MAX = {
  configuration: 512 << 10,
  users: 16 << 20,
  mapConfig: 4 << 20,
  key: 64 << 10,
  certificates: 4 << 20,
  crls: 64 << 20,
} as const;

/**
 * Reads a file. Returns undefined and adds an error at `place`, the key that names the file. `tooLong` is the error of
 * a file with more than `bytesMax`. Throws OperationError `file` if the process has no descriptor or memory left,
 * because that is no error of the file.
 */
export function readBytes(
  path: string,
  bytesMax: number,
  place: Place,
  mistakes: Mistakes,
  tooLong = `has more than ${bytesMax} bytes`,
): Buffer | undefined {
  try {
    const bytes = readAtMost(path, bytesMax);
    if (typeof bytes !== 'string') return bytes;
    const problem = bytes === 'noFile' ? `cannot be read (${NO_FILE})` : tooLong;
    addMistake(problem, path, place, mistakes);
  } catch (cause) {
    if (isStarved(cause)) throw new OperationError('file', `${path} cannot be read (${reasonOf(cause)})`, cause);
    addMistake(`cannot be read (${reasonOf(cause)})`, path, place, mistakes);
  }
  return undefined;
}

function addMistake(problem: string, path: string, place: Place, mistakes: Mistakes): void {
  mistakes.add(place, path === place.file ? problem : `${path} ${problem}`);
}

/** Reads a UTF-8 text. Returns undefined and adds an error, at `place` or at the first line that is not UTF-8. */
export function readText(path: string, bytesMax: number, place: Place, mistakes: Mistakes): string | undefined {
  const bytes = readBytes(path, bytesMax, place, mistakes);
  if (!bytes) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    mistakes.add({ file: path, line: findFirstLine(bytes, (line) => !isUtf8(line)) }, 'is not UTF-8');
    return undefined;
  }
}

const LINE_END = 0x0a;

/** The number of the first such line, from 1; undefined without such a line. */
function findFirstLine(bytes: Buffer, isOfKind: (line: Buffer) => boolean): number | undefined {
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const end = bytes.indexOf(LINE_END, start);
    const next = end < 0 ? bytes.length : end + 1;
    if (isOfKind(bytes.subarray(start, next))) return line;
    start = next;
  }
  return undefined;
}

/** Limit of entries in a CRL directory (A107). Grid directories have some hundreds. */
export const ENTRIES_MAX = 10_000;

/**
 * The state of a directory, to detect changes: names, sizes and change times of its files, which include changes of
 * mode. For an entry that cannot be examined it has the error code instead. `unreadable` if the directory cannot be
 * read.
 */
export function directoryStamp(directory: string): string {
  try {
    return readdirSync(directory)
      .toSorted()
      .slice(0, ENTRIES_MAX)
      .map((name) => `${name} ${fileStamp(join(directory, name))}`)
      .join('\n');
  } catch {
    // A directory that is missing for a moment counts as a change. The reload then reports the error.
    return 'unreadable';
  }
}

function fileStamp(path: string): string {
  try {
    const { size, ctimeMs } = statSync(path);
    return `${size} ${ctimeMs}`;
  } catch (cause) {
    return reasonOf(cause);
  }
}
