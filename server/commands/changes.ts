// `diff` and `changes`: print created, changed and deleted records as counts or JSON lines. data/upstream/ finds the
// changes.
import type { Command } from 'commander';
import { availableParallelism } from 'node:os';
import { example, type Outputs, THREADS, valueOption } from './parts.ts';
import { GENERATION, oneOf } from '../settings/values.ts';
import path from 'node:path';
import {
  CHANGE_KINDS,
  type ChangeKind,
  changesBetween,
  changesSince,
  changeKind,
  type RecordChange,
} from '../../data/upstream/changeLog.ts';
import { CHANGES_FILE } from '../../data/changeFeed.ts';
import { digestCatalogue } from '../../data/upstream/digests.ts';
import { statIfExists } from '../../data/files.ts';
import { OperationError } from '../../data/operationError.ts';
import { countText } from '../observe/quantities.ts';
import { type Output, tableText, withProgress } from './terminal.ts';

const FORMAT_HELP = 'counts of changes, or a JSON line for each';
const CHANGE_FORMAT = oneOf('table', 'ndjson');

export function defineDiff(command: Command, outputs: Outputs): void {
  command
    .argument('<before>', 'data set directory or snapshot file')
    .argument('<after>', 'data set directory or snapshot file')
    .addOption(valueOption('--format', FORMAT_HELP, CHANGE_FORMAT).default('table'))
    .addOption(valueOption('--threads', 'decoding threads', THREADS).default(availableParallelism(), 'number of cores'))
    .addHelpText('after', example('diff catalogue/ catalogue.snapshot --format ndjson'))
    .action((before: string, after: string, flags: { readonly format: ChangeFormat; readonly threads: number }) =>
      runDiff([before, after], flags, outputs),
    );
}

export function defineChanges(command: Command, outputs: Outputs): void {
  command
    .argument('<directory>', 'folder of a replica that follows a catalogue, or its change log')
    .addOption(valueOption('--since', 'only changes after this one (default: all)', GENERATION))
    .addOption(valueOption('--format', FORMAT_HELP, CHANGE_FORMAT).default('table'))
    .addHelpText('after', example('changes replica/ --since 5d43adc79607 --format ndjson'))
    .action((directory: string, flags: { readonly format: ChangeFormat; readonly since?: string }) =>
      runChanges(directory, flags, outputs),
    );
}

type ChangeFormat = 'table' | 'ndjson';

const PRINTED_CHARACTERS = 1 << 16;

/**
 * Compares two data sets or snapshot files with this many threads and prints the differences. Throws as digestCatalogue
 * does.
 */
async function runDiff(
  [before, after]: readonly [string, string],
  { format, threads }: { readonly format: ChangeFormat; readonly threads: number },
  { stdout, stderr }: Outputs,
): Promise<void> {
  const [old, young] = await withProgress(
    stderr,
    async (onProgress) =>
      [await digestCatalogue(before, threads, onProgress), await digestCatalogue(after, threads, onProgress)] as const,
  );
  const rows = function* (): Generator<ChangeRow> {
    for (const change of changesBetween(old, young)) yield { key: [change.collection], of: {}, change };
  };
  print(stdout, format, ['collection'], rows());
}

/**
 * Prints the changes after a generation, from a change log or the folder that contains it. Throws as changesSince does.
 */
function runChanges(
  where: string,
  { format, since }: { readonly format: ChangeFormat; readonly since?: string },
  { stdout }: Outputs,
): void {
  const isFolder = statIfExists(where)?.isDirectory() === true;
  const file = isFolder ? path.join(where, CHANGES_FILE) : where;
  if (!statIfExists(file)) {
    const cure = 'name the folder of follow, or its changes.log';
    throw new OperationError('file', `${file}: there is no change log: ${cure}`);
  }
  const rows = function* (): Generator<ChangeRow> {
    for (const { generation, at, changes } of changesSince(file, since)) {
      const time = new Date(at * 1000).toISOString();
      const shown = time.replace('T', ' ').replace('.000', '');
      for (const change of changes)
        yield { key: [generation.slice(0, 12), shown, change.collection], of: { generation, time }, change };
    }
  };
  print(stdout, format, ['generation', 'time', 'collection'], rows());
}

interface ChangeRow {
  /** The row of the table in which the change is counted. */
  readonly key: readonly string[];
  /** Members to print in addition to the change. */
  readonly of: Readonly<Record<string, string>>;
  readonly change: RecordChange;
}

function print(stdout: Output, format: ChangeFormat, head: readonly string[], rows: Iterable<ChangeRow>): void {
  if (format === 'ndjson') return printLines(stdout, rows);
  const counts = new Map<string, { readonly key: readonly string[]; readonly of: Record<ChangeKind, number> }>();
  const total = { created: 0, changed: 0, deleted: 0 };
  for (const { key, change } of rows) {
    const name = key.join(' ');
    let row = counts.get(name);
    if (!row) counts.set(name, (row = { key, of: { created: 0, changed: 0, deleted: 0 } }));
    row.of[changeKind(change)]++;
    total[changeKind(change)]++;
  }
  const cells = (of: Record<ChangeKind, number>): readonly string[] => CHANGE_KINDS.map((kind) => countText(of[kind]));
  const lines = [...counts.values()].map(({ key, of }) => [...key, ...cells(of)]);
  const last = ['total', ...head.slice(1).map(() => ''), ...cells(total)];
  stdout.write(`${tableText([[...head, ...CHANGE_KINDS], ...lines, last])}\n`);
}

function printLines(stdout: Output, rows: Iterable<ChangeRow>): void {
  let text = '';
  for (const { of, change } of rows) {
    const { collection, id, before, after } = change;
    const told = { ...of, collection, id, change: changeKind(change), before: digits(before), after: digits(after) };
    text += `${JSON.stringify(told)}\n`;
    if (text.length < PRINTED_CHARACTERS) continue;
    stdout.write(text);
    text = '';
  }
  if (text !== '') stdout.write(text);
}

function digits(digest: Uint8Array | null): string | null {
  return digest && Buffer.from(digest).toString('hex');
}
