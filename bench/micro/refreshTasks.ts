// The cost of a refresh against a whole import of the same data, in CPU of all threads: with a fraction of the
// observations changed, and with one record of a small collection. Both must write the same bytes.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { BUILDING_MEMORY } from '../../server/process/followProcess.ts';
import { temporaryFolder } from '../processes/ending.ts';
import type { TimedTask } from './microTask.ts';

const IMPORTER = fileURLToPath(new URL('./refreshTime.ts', import.meta.url));

/** The first of this many lines changes: 1 %. */
const CHANGED_ONE_IN = 100;

/** Makes another record from a line. */
type Revise = (line: string) => string;

const REVISIONS: Readonly<Record<string, readonly [collection: string, revise: Revise]>> = {
  'refresh-observations': ['observations', revised],
  'refresh-record': ['licences', revised],
};

const TARGETS: Readonly<Record<string, { readonly pass: number; readonly great: number }>> = {
  'refresh-observations': { pass: 0.25, great: 0.1 },
  'refresh-record': { pass: 0.08, great: 0.03 },
};

/** Both tasks, over the data set of a directory. A temporary folder has the changed data. */
export function refreshTasks(directory: string): readonly TimedTask[] {
  let scratch: string | undefined;
  const prepared = async (): Promise<string> => {
    if (scratch !== undefined) return scratch;
    const made = temporaryFolder('catalogue-refresh-').path;
    changedDataSet(directory, path.join(made, 'before'));
    for (const [name, revision] of Object.entries(REVISIONS))
      changedDataSet(directory, path.join(made, name), revision);
    await run(made, 'before');
    return (scratch = made);
  };
  return Object.keys(REVISIONS).map((name) => ({
    name,
    calibration: 'a whole import of the same data',
    ...TARGETS[name]!,
    times: async () => [(await run(await prepared(), name, 'before'))[0], (await run(await prepared(), name))[0]],
    check: async () => {
      const [, refreshed] = await run(await prepared(), name, 'before');
      const [, whole] = await run(await prepared(), name);
      assert.equal(refreshed, whole, `${name}: a refresh and a whole import differ`);
      return whole;
    },
  }));
}

/** Copies the files of a data set, one of them revised line by line, with a manifest of their digests. */
function changedDataSet(from: string, to: string, revision?: readonly [collection: string, revise: Revise]): void {
  mkdirSync(to);
  const sha256: Record<string, string> = {};
  for (const name of readdirSync(from).filter((one) => one.endsWith('.ndjson'))) {
    const [source, target] = [path.join(from, name), path.join(to, name)];
    if (revision && name === `${revision[0]}.ndjson`) writeRevised(source, target, revision[1]);
    else symlinkSync(path.resolve(source), target);
    const hash = createHash('sha256');
    for (const lines of runsOfLines(target)) hash.update(lines);
    sha256[name] = hash.digest('hex');
  }
  writeFileSync(path.join(to, 'MANIFEST.json'), JSON.stringify({ created: '2026-01-01T00:00:00Z', sha256 }));
}

function writeRevised(source: string, target: string, revise: Revise): void {
  let i = 0;
  for (const lines of runsOfLines(source)) {
    const texts = lines.toString().split('\n');
    const left = texts.map((line) => (line !== '' && i++ % CHANGED_ONE_IN === 0 ? revise(line) : line));
    appendFileSync(target, left.join('\n'));
  }
}

/** A file in runs of whole lines. It may exceed the maximum of a buffer or a string. */
function* runsOfLines(file: string): Generator<Buffer> {
  const descriptor = openSync(file, 'r');
  try {
    for (let at = 0; ;) {
      const piece = Buffer.alloc(PIECE_BYTES);
      const bytes = readSync(descriptor, piece, 0, PIECE_BYTES, at);
      if (bytes === 0) return;
      const end = bytes < PIECE_BYTES ? bytes : piece.lastIndexOf(0x0a) + 1;
      yield piece.subarray(0, end);
      at += end;
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Longer than any line. */
const PIECE_BYTES = 64 << 20;

function revised(line: string): string {
  const record = JSON.parse(line) as Record<string, unknown>;
  for (const key of ['title', 'abstract', 'licenceURL'])
    if (typeof record[key] === 'string') record[key] = `Revised: ${record[key]}`;
  if (typeof record['lastUpdatedDate'] === 'string') record['lastUpdatedDate'] = '2027-01-01T00:00:00Z';
  return JSON.stringify(record);
}

/** Imports a data set of the folder, with the snapshot `earlier` if given. Returns its CPU time and generation. */
async function run(
  folder: string,
  name: string,
  earlier?: string,
): Promise<readonly [nanoseconds: number, generation: string]> {
  const at = (file: string): string => path.join(folder, file);
  const made = earlier === undefined ? `${name}.snapshot` : `${name}.refreshed`;
  const words = [at(name), at(made), at(`${earlier ?? name}.json`)];
  if (earlier !== undefined) words.push(at(`${earlier}.snapshot`));
  // Removed first: replacing a file of this size takes time that does not belong to the import.
  rmSync(at(made), { force: true });
  const env = { ...BUILDING_MEMORY, ...process.env };
  const { stdout } = await promisify(execFile)(process.execPath, [IMPORTER, ...words], { env });
  const [nanoseconds = '', generation = ''] = stdout.trim().split(' ');
  return [Number(nanoseconds), generation];
}
