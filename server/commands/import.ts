// `import`: builds a snapshot file from a data set directory. data/import/import.ts does the work.
import type { Command } from 'commander';
import { availableParallelism } from 'node:os';
import { addSettings, COMPRESSED_FOR, example, type Outputs, THREADS, valueOption } from './parts.ts';
import type { Flags } from '../settings/sources.ts';
import { statIfExists, activateFile } from '../../data/files.ts';
import { importDirectory, type ImportReport } from '../../data/import/import.ts';
import { withPartialPath } from '../../data/leftovers.ts';
import { OperationError } from '../../data/operationError.ts';
import { secondsSince, steadyMs } from '../observe/clock.ts';
import type { Report } from '../observe/events.ts';
import { readSettings } from '../settings/declarations.ts';
import { compressWithReport } from './compress.ts';
import { type Output, tableText, withProgress, withReport } from './terminal.ts';
import { STAGES } from '../../data/importProfile.ts';
import { misfitText } from '../../engine/shared.ts';
import { bytesText, countText } from '../observe/quantities.ts';

export function defineImport(command: Command, outputs: Outputs): void {
  command
    .argument('<directory>', 'directory of NDJSON files')
    .requiredOption('-o, --output <file>', 'snapshot file to write')
    .option('--created <time>', 'time of the data, for Last-Modified (default: created of MANIFEST.json)')
    .option('--without <variants>', 'index variants to omit (grams,words,bitmaps): smaller, but some lists are slower')
    .option('--lenient', 'skip and count invalid lines instead of stopping at the first')
    .option('--take-nulls', 'accept null in fields that are documented to have values')
    .option('--profile', 'print the CPU seconds of each stage')
    .addOption(
      valueOption('--threads', 'threads that decode lines and build columns', THREADS).default(
        availableParallelism(),
        'number of cores',
      ),
    )
    .addOption(valueOption(...COMPRESSED_FOR));
  addSettings(command, ['logFormat'])
    .addHelpText('after', example('import catalogue/ -o catalogue.snapshot'))
    .action(async (directory: string, flags: ImportFlags & Pick<Flags, 'logFormat' | 'config'>) => {
      const { logFormat, config } = flags;
      await runImport(directory, flags, { logFormat, config }, outputs);
    });
}

interface ImportFlags {
  readonly output: string;
  readonly created?: string;
  readonly lenient?: boolean;
  readonly takeNulls?: boolean;
  readonly profile?: boolean;
  readonly without?: string;
  readonly threads: number;
  readonly baseUrl?: string;
}

/** Builds the snapshot file of a directory and, on request, its compressed records. Throws the errors of both. */
async function runImport(
  directory: string,
  flags: ImportFlags,
  settings: Flags,
  { stdout, stderr }: Outputs,
): Promise<void> {
  const { logFormat } = readSettings(settings);
  await withReport(logFormat === 'json', stdout, (report) => importWithReport(directory, flags, report, stderr));
}

async function importWithReport(directory: string, flags: ImportFlags, report: Report, stderr: Output): Promise<void> {
  const { output, threads, baseUrl } = flags;
  refuseDirectory(output);
  if (baseUrl === undefined) return (await built(directory, flags, output, stderr)).tell(report);
  // The snapshot appears only with its compressed records, for processes that watch it.
  await withPartialPath(output, async (file) => {
    const { generation, tell } = await built(directory, flags, file, stderr);
    const compression = { file, name: output, generation, baseUrl, threads };
    try {
      await compressWithReport(compression, report, (work) => withProgress(stderr, work));
    } finally {
      activateFile(file, output);
      tell(report);
    }
  });
}

/**
 * Builds a snapshot file at a temporary name. Returns its generation and a function that reports it once it is renamed.
 */
async function built(
  directory: string,
  { output, created, lenient = false, takeNulls, profile: isProfiled = false, threads, without }: ImportFlags,
  file: string,
  stderr: Output,
): Promise<{ readonly generation: string; tell(report: Report): void }> {
  const startMs = steadyMs();
  const options = { directory, file, created, isLenient: lenient, takesNulls: takeNulls, threads, without };
  const made = await withProgress(stderr, (onProgress) => importDirectory(options, onProgress));
  const { generation, snapshotBytes: bytes, work } = made;
  const ignored = made.ignored.join(', ') || undefined;
  const seconds = secondsSince(startMs);
  const stages = isProfiled ? made.stages : [];
  const cpuSeconds = stages.map((one) => [`${one.stage}CpuSeconds`, Number(one.seconds.toFixed(3))] as const);
  const text = [importText(made, output), ...(isProfiled ? [profileText(made)] : [])].join('\n');
  const figures = { bytes, ...work, ignored, seconds, ...Object.fromEntries(cpuSeconds) };
  return { generation, tell: (report) => report(text, 'info', { event: 'built', generation, ...figures }) };
}

/**
 * Rejects a directory as output before the import, which may take minutes. Without this check, the import would fail in
 * its last step, the rename.
 */
function refuseDirectory(output: string): void {
  if (!statIfExists(output)?.isDirectory()) return;
  throw new OperationError('usage', `--output ${output} is a directory; want the name of the file to write`);
}

/** A table of the CPU seconds of an import by stage, with their shares and descriptions. */
export function profileText({ stages }: Pick<ImportReport, 'stages'>): string {
  const total = stages.reduce((sum, { seconds }) => sum + seconds, 0);
  const rows = stages.map(({ stage, seconds }) => [
    stage,
    seconds.toFixed(2),
    `${((seconds / total) * 100).toFixed(0)} %`,
    stage === 'other' ? 'threads, garbage, the disk' : STAGES[stage],
  ]);
  return tableText([['stage', 'CPU s', 'share', ''], ...rows, ['total', total.toFixed(2), '', '']]);
}

type CollectionReport = ImportReport['collections'][number];
type Column = readonly [head: string, text: (count: number) => string, read: (row: CollectionReport) => number];

const IMPORT_COLUMNS: readonly Column[] = [
  ['records', countText, (row) => row.records],
  ['nulls', countText, (row) => row.nulls],
  ['input', bytesText, (row) => row.inputBytes],
  ['stored', bytesText, (row) => row.recordBytes],
  ['indexes', bytesText, (row) => row.indexBytes],
];

/** The report of an import: a line per collection, the first skipped lines, misfits, and the file. */
export function importText(report: ImportReport, file: string): string {
  const rows = report.collections.map((row) => [row.name, ...IMPORT_COLUMNS.map(([, text, read]) => text(read(row)))]);
  const totals = IMPORT_COLUMNS.map(([, text, read]) =>
    text(report.collections.reduce((sum, row) => sum + read(row), 0)),
  );
  const head = ['collection', ...IMPORT_COLUMNS.map(([name]) => name)];
  const more = report.skippedCount - report.skipped.length;
  return [
    tableText([head, ...rows, ['total', ...totals]]),
    ...skippedLines(report),
    ...danglingLines(report),
    ...inferredLines(report),
    ...report.skipped.map((line) => `skipped: ${line}`),
    ...(more > 0 ? [`skipped: ${countText(more)} more`] : []),
    ...report.misfits.map((misfits) => `warning: ${misfitText(misfits)}`),
    ...(report.ignored.length > 0 ? [`ignored: ${report.ignored.join(', ')}; want .ndjson or .ndjson.gz`] : []),
    `${file}: ${bytesText(report.snapshotBytes)}, generation ${report.generation}`,
  ].join('\n');
}

function skippedLines({ collections }: ImportReport): readonly string[] {
  const some = collections.filter(({ skipped }) => skipped > 0);
  return some.map(({ name, skipped }) => `skipped in ${name}: ${countText(skipped)}`);
}

function danglingLines({ collections }: ImportReport): readonly string[] {
  const some = collections.filter(({ dangling }) => dangling > 0);
  return some.map((row) => `dangling in ${row.name}: ${countText(row.dangling)}, such as ${row.firstDangling}`);
}

function inferredLines({ inferred }: ImportReport): readonly string[] {
  const some = inferred.filter(({ fields }) => fields.length > 0);
  return some.map(({ collection, fields }) => `inferred in ${collection}: ${fields.join(', ')}`);
}
