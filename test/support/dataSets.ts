import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { importDirectory, type ImportOptions, type ImportReport } from '../../data/import/import.ts';
import { OperationError } from '../../data/operationError.ts';

/** Files of a data set by name: texts or bytes. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/**
 * A directory that is removed after the tests of the calling file. A child process of a killed server may still write
 * into it until it exits: removing is retried for at most 10 s.
 */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'catalogue-test-'));
  afterAll(() => rm(directory, { recursive: true, force: true, maxRetries: 13, retryDelay: 100 }));
  return directory;
}

/** Writes files into a new directory inside `parent`. Returns its path. */
export function dataSetOf(parent: string, files: Files): string {
  const directory = mkdtempSync(join(parent, 'data-'));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
  return directory;
}

/** Imports `directory` into `<directory>.snapshot`, by default without threads, and without progress. */
export async function imported(
  directory: string,
  options: Partial<ImportOptions> = {},
): Promise<{ file: string; report: ImportReport }> {
  const file = options.file ?? `${directory}.snapshot`;
  const defaults = { directory, file, created: undefined, isLenient: false, threads: 0 };
  return { file, report: await importDirectory({ ...defaults, ...options }, () => undefined) };
}

/** The error of an import of these files. `at` is their directory inside `parent`. */
export async function importFailure(
  parent: string,
  files: Files,
  options: Partial<ImportOptions> = {},
): Promise<OperationError & { at: string }> {
  const at = dataSetOf(parent, files);
  const error: unknown = await imported(at, options).catch((thrown: unknown) => thrown);
  if (!(error instanceof OperationError)) throw new Error(`expected an OperationError, got ${String(error)}`);
  return Object.assign(error, { at });
}

export function ndjsonOf(...records: object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}
