// `export`: writes lists of a snapshot or data set to files, each completely or not at all.
import { type Command, Option } from 'commander';
import {
  type Body,
  type Collection,
  COLLECTIONS,
  countSelected,
  EXPANDED_BYTES_MAX,
  EXPORT_FORMATS,
  type ExportFormat,
  exportOf,
  type Here,
  listHere,
  measuringOf,
  openSnapshot,
  type Representation,
  SPEC_LINK_END,
  tooLarge,
} from '../../engine/engine.ts';
import { addSettings, example, type Outputs } from './parts.ts';
import type { Flags } from '../settings/sources.ts';
import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { attempt, makeFolder, activateFile } from '../../data/files.ts';
import { withPartialPath } from '../../data/leftovers.ts';
import { openData } from '../../data/open.ts';
import { OperationError } from '../../data/operationError.ts';
import { readParquet } from '../../engine/parquet.ts';
import { queryOptionsOf } from '../catalogue/queryOptions.ts';
import { openingOf } from '../process/loadGeneration.ts';
import { bytesText, countText } from '../observe/quantities.ts';
import { readSettings } from '../settings/declarations.ts';
import { ofSample, refuseFetching, refuseProblems } from './explain.ts';
import { collectionsNamed } from './fields.ts';
import { withProgress } from './terminal.ts';

export function defineExport(command: Command, outputs: Outputs): void {
  command
    .argument('<collections...>', 'names as in paths of the API, or all')
    .requiredOption('-o, --output <path>', 'file named *.parquet, *.csv or *.ndjson; a directory for several')
    .option('--where <query>', 'filters, fields and ordering of the API: status=completed&ordering=title')
    .addOption(
      new Option('--format <format>', 'format of files in a directory (default: parquet)').choices(EXPORT_FORMATS),
    )
    .option('--force', 'replace existing files');
  addSettings(command, ['data', 'baseUrl', 'lenient', 'takeNulls'])
    .addHelpText(
      'after',
      example("export observations -o citable.csv --data catalogue.snapshot --where 'publicationState=citable'"),
    )
    .action(async (collections: readonly string[], flags: Flags & ExportFlags) => {
      await runExport(collections, flags, outputs);
    });
}

interface ExportFlags {
  readonly output: string;
  readonly where?: string;
  readonly format?: ExportFormat;
  readonly force?: boolean;
}

const WRITE_BYTES = 4 << 20;

interface Target {
  readonly collection: Collection;
  readonly format: ExportFormat;
  readonly file: string;
}

/** Checks names, values and files before writing anything. Throws OperationError `usage`, and as openData does. */
async function runExport(
  names: readonly string[],
  { output, where = '', format, force = false, ...flags }: Flags & ExportFlags,
  { stdout, stderr }: Outputs,
): Promise<void> {
  const targets = targetsOf(names, output, format);
  const there = force ? undefined : targets.find(({ file }) => existsSync(file));
  if (there) throw new OperationError('usage', `${there.file} is there; --force replaces it`);
  const settings = readSettings(flags);
  refuseFetching('export', settings);
  const baseUrl = settings.baseUrl ?? `http://localhost:${settings.port}`;
  const leftOut: string[] = [];
  const lines = await withProgress(stderr, async (onProgress) => {
    const opening = openingOf(settings, (line) => leftOut.push(line));
    const catalogue = openSnapshot(await openData(settings.data, { baseUrl, ...opening }, onProgress));
    // Invalid filters are always errors here, even if the configuration file of a server ignores them.
    const options = { ...queryOptionsOf(settings), isStrict: true, filterErrors: 'fail' as const };
    const here: Here = { options, form: { baseUrl, version: 'v3', linkEnd: SPEC_LINK_END } };
    const ready = targets.map(({ collection: { name }, format: wanted, file }) => {
      const query = `${where.replace(/^\?/, '')}&format=${wanted}`;
      const { ask, page } = listHere(catalogue.collection(name), query, here);
      refuseProblems(ask, targets.length > 1 ? `${name}: ` : '');
      return { name, file, page: page! };
    });
    if (targets[0]!.file !== output) attempt(`cannot make ${output}`, () => makeFolder(output));
    const written: string[] = [];
    for (const { name, file, page } of ready) {
      const bytes = await writePage(page, file, (done, total) => {
        onProgress({ phase: `writing ${name}`, done, total, unit: 'bytes' });
      });
      const count = countSelected(page.rows.rows);
      const records = `${countText(count)} ${count === 1 ? 'record' : 'records'}${ofSample(settings)}`;
      written.push(`${file}: ${records}, ${bytesText(bytes)}\n`);
    }
    return written;
  });
  for (const line of leftOut) stderr.write(`${line}\n`);
  stdout.write(lines.join(''));
}

/** The lists with these names and their files. In a directory the format is `wanted`, by default Parquet. */
function targetsOf(names: readonly string[], output: string, wanted?: ExportFormat): readonly Target[] {
  const collections = names.flatMap((name) => (name === 'all' ? COLLECTIONS : collectionsNamed(name)));
  const [first] = collections;
  const named = exportOf(path.extname(output).slice(1));
  if (named && wanted && wanted !== named)
    throw new OperationError('usage', `--output ${output}: the format of one file is its ending; leave --format out`);
  if (collections.length === 1 && named) return [{ collection: first!, format: named, file: output }];
  if (named) throw new OperationError('usage', `--output ${output} is one file; want a directory for several lists`);
  if (collections.length === 1 && !existsSync(output)) {
    throw new OperationError('usage', `--output ${output}: want a name in .parquet, .csv or .ndjson, or a directory`);
  }
  const format = wanted ?? 'parquet';
  return [...new Set(collections)].map((collection) => {
    return { collection, format, file: path.join(output, `${collection.name}.${format}`) };
  });
}

/** Writes a page to a partial file and renames it. Signals are handled between pieces. Returns the number of bytes. */
async function writePage(
  page: Representation,
  file: string,
  onBytes: (done: number, total: number) => void,
): Promise<number> {
  const what = `cannot write ${file}`;
  return withPartialPath(file, async (partial) => {
    const descriptor = attempt(what, () => openSync(partial, 'wx'));
    try {
      const body = await measured(page);
      for (let at = 0, turnEnd = 0; at < body.bytes;) {
        const piece = body.pieceAt(at).subarray(0, WRITE_BYTES);
        at += attempt(what, () => writeSync(descriptor, piece));
        if (at < turnEnd) continue;
        turnEnd = at + (body.isSlow ? 0 : WRITE_BYTES);
        onBytes(at, body.bytes);
        await setImmediate();
      }
      attempt(what, () => fsyncSync(descriptor));
      activateFile(partial, file);
      return body.bytes;
    } catch (error) {
      rmSync(partial, { force: true });
      throw error;
    } finally {
      closeSync(descriptor);
    }
  });
}

async function measured(page: Representation): Promise<Body> {
  const measuring = page.format === 'parquet' ? (await readParquet())(page) : measuringOf(page);
  for (;;) {
    const body = measuring();
    if (body?.isTooLarge) throw new OperationError('usage', tooLarge(EXPANDED_BYTES_MAX / 2 ** 20));
    if (body) return body;
    await setImmediate();
  }
}
