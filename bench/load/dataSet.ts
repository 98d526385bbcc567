// The data of a benchmark: made by the product's generator and import, and cached for the next run. Its name identifies
// its origin, so a change of generator, import or format makes new data.
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
 * A generated catalogue with this many observations and this seed, cached in `cacheDirectory`; or, with `dataSet`, an
 * existing directory and its `snapshot`, if given.
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

/** Cache of data sets between runs. It is in the installation, which no tool scans and no clone contains. */
export const CACHE_DIRECTORY = fileURLToPath(
  new URL('../../node_modules/.cache/catalogue-replica/bench', import.meta.url),
);

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The folders whose sources determine the bytes of a data set, and those of a snapshot. */
const GENERATOR_FOLDERS = ['data/synth'];
const IMPORT_FOLDERS = [
  ...['decode', 'import', 'store'].map((name) => `data/${name}`),
  ...['bits', 'column', 'index', 'query', 'schema', 'snapshot'].map((name) => `engine/${name}`),
];

/**
 * The data set and its snapshot, made unless cached. Removes results of an older generator or import for the same
 * options. Cost: about a minute and 1.2 GB on disk for 100,000 observations, nothing the next time. Throws
 * OperationError `usage` for a snapshot without a directory.
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
 * The number of observations of a run; undefined for a given directory with a compressed file. Cost: nothing, or a read
 * of the given file.
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

/** The snapshot that this tree's import makes of a directory, cached in `place`. */
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

/** A hash of the sources that determine the bytes of a snapshot. Equal hashes mean equal snapshots of equal data. */
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

/** A short hash of the source files of folders. A tree may lack a folder. */
async function sourcesHash(folders: readonly string[], root: string): Promise<string> {
  const hash = createHash('sha256');
  for (const folder of folders.filter((one) => existsSync(path.join(root, one)))) {
    const names = (await readdir(path.join(root, folder))).filter((name) => /\.(ts|fbs)$/.test(name)).toSorted();
    for (const name of names) hash.update(name).update(await readFile(path.join(root, folder, name)));
  }
  return hash.digest('hex').slice(0, 12);
}
