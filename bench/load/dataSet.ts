// The data a bench runs on: made by the product's own generator and import, and kept for the next run.
// Kept under a name that says what it was made from, so that a change of generator, import or format makes it anew.
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { importDirectory } from '../../data/import/import.ts';
import type { OnProgress } from '../../data/progress.ts';
import { OperationError } from '../../data/operationError.ts';
import { generate } from '../../data/synth/generate.ts';
import { removedAtEnd, temporaryFolder } from '../processes/ending.ts';
import { naiveCountOf } from '../processes/memoryScan.ts';

/**
 * What to prepare: a catalogue of so many observations of a seed, kept in `cacheDirectory`; or, with `dataSet`, what
 * lies in that directory, and its `snapshot` where that is given.
 */
export interface DataSetOptions {
  readonly observations: number;
  readonly seed: number;
  readonly cacheDirectory: string;
  readonly dataSet?: string | undefined;
  readonly snapshot?: string | undefined;
}

/** A prepared data set: the directory of NDJSON files, and the snapshot imported from it. */
export interface BenchDataSet {
  readonly directory: string;
  readonly snapshot: string;
}

/** Where data sets are kept between runs: with the installation, where no tool looks and no clone has it. */
export const CACHE_DIRECTORY = fileURLToPath(
  new URL('../../node_modules/.cache/catalogue-replica/bench', import.meta.url),
);

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The folders whose sources decide the bytes of a data set, and those of a snapshot. */
const GENERATOR_FOLDERS = ['data/synth'];
const IMPORT_FOLDERS = [
  ...['decode', 'import', 'store'].map((name) => `data/${name}`),
  ...['bits', 'column', 'index', 'query', 'schema', 'snapshot'].map((name) => `engine/${name}`),
];

/**
 * The data set and its snapshot, made unless they are there. What an older generator or import made of the same options
 * is removed. Cost: about a minute and 1.2 GB on disk for 100,000 observations, nothing the next time. Throws
 * OperationError `usage` for a snapshot of no directory.
 */
export async function prepareDataSet(options: DataSetOptions, onProgress: OnProgress): Promise<BenchDataSet> {
  const { cacheDirectory, dataSet } = options;
  if (dataSet === undefined && options.snapshot !== undefined) {
    throw new OperationError('usage', '--snapshot goes with --data-set: it is the snapshot of that directory');
  }
  await mkdir(cacheDirectory, { recursive: true });
  if (dataSet === undefined) return generated(options, onProgress);
  const directory = path.resolve(dataSet);
  if (options.snapshot !== undefined) return { directory, snapshot: path.resolve(options.snapshot) };
  const { mtimeMs } = await stat(path.join(directory, 'observations.ndjson'));
  const place = path.join(cacheDirectory, `given-${textHash(`${directory} ${mtimeMs}`)}`);
  await mkdir(place, { recursive: true });
  return { directory, snapshot: await importedOnce(directory, place, onProgress) };
}

/**
 * How many observations a run is of; none is known of a given directory whose file is compressed. Cost: nothing, or a
 * read of the file where it is a given one.
 */
export async function observationsOf(
  options: Pick<DataSetOptions, 'observations' | 'dataSet'>,
): Promise<number | undefined> {
  if (options.dataSet === undefined) return options.observations;
  const name = path.join(options.dataSet, 'observations.ndjson');
  if (!existsSync(name)) return undefined;
  let [lines, last] = [0, LINE_FEED[0]];
  for await (const piece of createReadStream(name, { highWaterMark: 1 << 22 }) as AsyncIterable<Buffer>) {
    lines += naiveCountOf(piece, LINE_FEED);
    last = piece.at(-1);
  }
  return last === LINE_FEED[0] ? lines : lines + 1;
}

const LINE_FEED = Buffer.from('\n');

async function generated(options: DataSetOptions, onProgress: OnProgress): Promise<BenchDataSet> {
  const { observations, seed, cacheDirectory } = options;
  const prefix = `observations-${observations}-seed-${seed}-`;
  const directory = path.join(cacheDirectory, prefix + (await sourcesHash(GENERATOR_FOLDERS, ROOT)));
  if (!existsSync(directory)) {
    await removeMatching(cacheDirectory, prefix);
    const unfinished = removedAtEnd(`${directory}.unfinished`);
    await generate({ observations, seed, directory: unfinished }, onProgress);
    await rename(unfinished, directory);
  }
  return { directory, snapshot: await importedOnce(directory, directory, onProgress) };
}

/** The snapshot that this tree's import makes of a directory, kept in `place`. */
async function importedOnce(directory: string, place: string, onProgress: OnProgress): Promise<string> {
  const snapshot = path.join(place, `${await importHash(ROOT)}.snapshot`);
  if (!existsSync(snapshot)) {
    await removeMatching(place, '', '.snapshot');
    await removeMatching(place, '', '.blocks');
    const folder = temporaryFolder('import-', place);
    const file = path.join(folder.path, path.basename(snapshot));
    await importDirectory({ directory, file, created: undefined, isLenient: false, threads: 2 }, onProgress);
    await rename(file, snapshot);
    folder.remove();
  }
  return snapshot;
}

/** A hash of what decides the bytes of a snapshot in a tree: equal hashes, equal snapshots of equal data. */
export function importHash(root: string): Promise<string> {
  return sourcesHash(IMPORT_FOLDERS, root);
}

/** A short hash of a text. */
export function textHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

async function removeMatching(directory: string, prefix: string, suffix = ''): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(prefix) || !name.endsWith(suffix)) continue;
    await rm(path.join(directory, name), { recursive: true });
  }
}

/** A short hash of the source files of folders; a tree may lack a folder. */
async function sourcesHash(folders: readonly string[], root: string): Promise<string> {
  const hash = createHash('sha256');
  for (const folder of folders.filter((one) => existsSync(path.join(root, one)))) {
    const names = (await readdir(path.join(root, folder))).filter((name) => /\.(ts|fbs)$/.test(name)).toSorted();
    for (const name of names) hash.update(name).update(await readFile(path.join(root, folder, name)));
  }
  return hash.digest('hex').slice(0, 12);
}
