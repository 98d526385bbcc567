import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = process.env['TESTDATA'] ?? fileURLToPath(new URL('../../../shared/testdata', import.meta.url));

/** One case of path validation. The README of the suites describes its fields. Texts are PEM. */
export interface PathCase {
  readonly id: string;
  readonly tier: 'must' | 'crl' | 'building' | 'names' | 'policy';
  readonly expect: 'accept' | 'reject';
  readonly time: number;
  readonly max_depth?: number | null;
  readonly trusted: readonly string[];
  readonly inter: readonly string[];
  readonly leaf: string;
  readonly crls: readonly string[];
}

/** The suites of path validation. */
export const PATH_SUITES = ['pkits', 'limbo'] as const;

function fileOf(suite: (typeof PATH_SUITES)[number]): string {
  return join(FOLDER, 'x509', `${suite}.json`);
}

/**
 * Whether the public suites are in the folder TESTDATA, by default ../shared/testdata. The project does not contain
 * them. Without them their tests are skipped, and one line at the end of the run reports that.
 */
export function hasPathSuites(): boolean {
  return PATH_SUITES.every((suite) => existsSync(fileOf(suite)));
}

/** The cases of a suite; empty if the suites are missing. */
export function pathCases(suite: (typeof PATH_SUITES)[number]): readonly PathCase[] {
  if (!hasPathSuites()) return [];
  return (JSON.parse(readFileSync(fileOf(suite), 'utf8')) as { readonly cases: readonly PathCase[] }).cases;
}

/** The line about missing suites, or undefined. */
export function missingSuites(): string | undefined {
  if (hasPathSuites()) return undefined;
  return `Skipped the public suites of path validation (not in ${FOLDER}; TESTDATA names it)`;
}
