// What import and verify say when they are done,
// as text for people. Pure: the outcome as plain data in, lines out.
import type { ImportReport } from '../../data/import/import.ts';
import { STAGES } from '../../data/importProfile.ts';
import { misfitText } from '../../engine/shared.ts';
import type { verifyFile } from '../../data/store/verify.ts';
import { bytesText, countText } from '../observe/quantities.ts';
import { tableText } from './terminal.ts';

/** CPU seconds of an import by stage, each with its share and what it is. */
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

type VerifyReport = Awaited<ReturnType<typeof verifyFile>>;
type CollectionReport = ImportReport['collections'][number];
type Column = readonly [head: string, text: (count: number) => string, read: (row: CollectionReport) => number];

const IMPORT_COLUMNS: readonly Column[] = [
  ['records', countText, (row) => row.records],
  ['input', bytesText, (row) => row.inputBytes],
  ['skipped', countText, (row) => row.skipped],
  ['nulls', countText, (row) => row.nulls],
  ['dangling', countText, (row) => row.dangling],
  ['columns', countText, (row) => row.columns],
  ['record bytes', bytesText, (row) => row.recordBytes],
  ['index bytes', bytesText, (row) => row.indexBytes],
];

/**
 * The report of an import: a line per collection with totals, the first lines skipped, values that do not fit, files
 * ignored, and the file that was written.
 */
export function importText(report: ImportReport, file: string): string {
  const rows = report.collections.map((row) => [row.name, ...IMPORT_COLUMNS.map(([, text, read]) => text(read(row)))]);
  const totals = IMPORT_COLUMNS.map(([, text, read]) =>
    text(report.collections.reduce((sum, row) => sum + read(row), 0)),
  );
  const head = ['collection', ...IMPORT_COLUMNS.map(([name]) => name)];
  const more = report.skippedCount - report.skipped.length;
  return [
    tableText([head, ...rows, ['total', ...totals]]),
    ...danglingLines(report),
    ...inferredLines(report),
    ...report.skipped.map((line) => `skipped: ${line}`),
    ...(more > 0 ? [`skipped: ${countText(more)} more`] : []),
    ...report.misfits.map((misfits) => `warning: ${misfitText(misfits)}`),
    ...(report.ignored.length > 0 ? [`ignored: ${report.ignored.join(', ')}; want .ndjson or .ndjson.gz`] : []),
    `${file}: ${bytesText(report.snapshotBytes)}, generation ${report.generation}`,
  ].join('\n');
}

function danglingLines({ collections }: ImportReport): readonly string[] {
  const some = collections.filter(({ dangling }) => dangling > 0);
  return some.map((row) => `dangling in ${row.name}: ${countText(row.dangling)}, such as ${row.firstDangling}`);
}

function inferredLines({ inferred }: ImportReport): readonly string[] {
  const some = inferred.filter(({ fields }) => fields.length > 0);
  return some.map(({ collection, fields }) => `inferred in ${collection}: ${fields.join(', ')}`);
}

/**
 * The report of a good snapshot: every check with its outcome, the records of each collection, the bytes of each part.
 */
export function verifyText(report: VerifyReport, file: string): string {
  const collections = report.collections.map(({ name, records }) => [name, countText(records)]);
  const total = report.parts.reduce((sum, { bytes }) => sum + bytes, 0);
  const parts = report.parts.map(({ name, bytes }) => [
    name,
    bytesText(bytes),
    `${((bytes / total) * 100).toFixed(1)} %`,
  ]);
  const created = report.created === undefined ? '' : `, data of ${report.created}`;
  return [
    tableText([['check', 'outcome'], ...report.checks.map(({ name, outcome }) => [name, outcome])]),
    '',
    tableText([['collection', 'records'], ...collections]),
    '',
    tableText([['part', 'bytes', 'share'], ...parts, ['total', bytesText(total), '']]),
    '',
    `${file} is good: generation ${report.generation}${created}`,
  ].join('\n');
}
