// Writes a synthetic catalogue of any size as a data set directory: one NDJSON file for each collection, and a
// manifest. Streams with back-pressure at constant memory; uses no clock, so the same options give the same bytes
// everywhere.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { MANIFEST_FILE } from '../import/manifest.ts';
import { makeFolder } from '../files.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import type { Source } from './source.ts';
import { SOURCES } from './sources.ts';
import { World } from './world.ts';

/**
 * What to generate: `observations` from 1 to 100 million, `seed` from 0 to 2^53 - 1, the directory to write to (made
 * when missing; files of the same names are replaced). `gzip` writes `<collection>.ndjson.gz`; there the bytes of a
 * file depend on the zlib of the runtime, only what they unpack to does not.
 */
export interface GenerateOptions {
  readonly observations: number;
  readonly seed: number;
  readonly directory: string;
  readonly gzip?: boolean;
}

/** What was written: records in all and by collection, and the bytes of the collections' files on disk. */
export interface GeneratedCatalogue {
  readonly records: number;
  readonly bytes: number;
  readonly collections: Record<string, number>;
}

/**
 * Writes `<collection>.ndjson` for all 34 collections and `MANIFEST.json` last, so that an unfinished directory has
 * none. Every collection has records from 20 observations on. Progress counts the indexes of a collection's maker,
 * which are its records but for collections that hold several or none for an observation. Cost: about 4.6 kB and 0.1 ms
 * for each observation, with what it links to; memory does not grow. Errors: `usage` for an option out of range, `file`
 * when the directory cannot be written. Source: data set format.
 */
export async function generate(options: GenerateOptions, onProgress: OnProgress): Promise<GeneratedCatalogue> {
  checkOptions(options);
  try {
    return await writeAll(options, onProgress);
  } catch (cause) {
    if (!(cause instanceof Error && 'syscall' in cause)) throw cause;
    throw new OperationError('file', `cannot write the data set to ${options.directory}: ${cause.message}`, cause);
  }
}

const OBSERVATIONS_MAX = 100_000_000;

/** Text written at once: large enough that a write costs little, small enough that memory stays flat. */
const CHUNK_CHARACTERS = 1 << 18;

/** Indexes between two progress steps: a few a second. */
const PROGRESS_INDEXES = 1 << 14;

/** The data time of every synthetic catalogue: constant, because equal options must give equal bytes. */
const CREATED = '2024-01-01T00:00:00Z';

/** Names the recipe; the number changes whenever the same options would give other bytes. */
const GENERATOR = 'catalogue-replica generate, recipe 1';

interface FileSummary {
  readonly name: string;
  readonly records: number;
  readonly bytes: number;
  readonly sha256: string;
}

function checkOptions({ observations, seed }: GenerateOptions): void {
  if (!Number.isSafeInteger(observations) || observations < 1 || observations > OBSERVATIONS_MAX)
    throw new OperationError('usage', `observations must be an integer from 1 to ${OBSERVATIONS_MAX}`);
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new OperationError('usage', `the seed must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}`);
}

async function writeAll(options: GenerateOptions, onProgress: OnProgress): Promise<GeneratedCatalogue> {
  const world = new World(options);
  const manifest = join(options.directory, MANIFEST_FILE);
  makeFolder(options.directory);
  await rm(manifest, { force: true });
  const counts: Record<string, number> = {};
  const sha256: Record<string, string> = {};
  let records = 0;
  let bytes = 0;
  for (const { name } of COLLECTIONS) {
    const file = await writeCollection(world, name, options, onProgress);
    counts[name] = file.records;
    sha256[file.name] = file.sha256;
    records += file.records;
    bytes += file.bytes;
  }
  const { seed, observations } = options;
  const manifestRecord = { created: CREATED, generator: GENERATOR, seed, observations, counts, sha256 };
  await writeFile(manifest, `${JSON.stringify(manifestRecord, null, 2)}\n`);
  return { records, bytes, collections: counts };
}

/** Writes one file, and removes that of the other spelling, which an import would otherwise find beside it. */
async function writeCollection(
  world: World,
  collection: string,
  options: GenerateOptions,
  onProgress: OnProgress,
): Promise<FileSummary> {
  const name = `${collection}.ndjson${options.gzip ? '.gz' : ''}`;
  await rm(join(options.directory, `${collection}.ndjson${options.gzip ? '' : '.gz'}`), { force: true });
  const hash = createHash('sha256');
  let bytes = 0;
  async function* measured(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  }
  const lines = new LineWriter(world, collection, onProgress);
  const target = createWriteStream(join(options.directory, name));
  if (options.gzip) await pipeline(lines.chunks(), createGzip({ level: 6 }), measured, target);
  else await pipeline(lines.chunks(), measured, target);
  return { name, records: lines.records, bytes, sha256: hash.digest('hex') };
}

/** The lines of one collection, in chunks. */
class LineWriter {
  records = 0;
  readonly #world: World;
  readonly #phase: string;
  readonly #source: Source;
  readonly #onProgress: OnProgress;

  constructor(world: World, collection: string, onProgress: OnProgress) {
    this.#world = world;
    this.#phase = `writing ${collection}`;
    this.#source = SOURCES[collection]!;
    this.#onProgress = onProgress;
  }

  async *chunks(): AsyncGenerator<Buffer> {
    const total = this.#source.length(this.#world);
    let text = '';
    for (let index = 0; index < total; index++) {
      for (const record of this.#source.records(this.#world, index)) {
        text += `${record}\n`;
        this.records++;
      }
      if (index % PROGRESS_INDEXES === PROGRESS_INDEXES - 1) this.#report(index + 1, total);
      if (text.length < CHUNK_CHARACTERS) continue;
      yield Buffer.from(text);
      text = '';
    }
    if (text !== '') yield Buffer.from(text);
    this.#report(total, total);
  }

  #report(done: number, total: number): void {
    this.#onProgress({ phase: this.#phase, done, total, unit: 'records' });
  }
}
