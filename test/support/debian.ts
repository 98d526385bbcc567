// Programs from Debian packages that some tests drive: a test of one is skipped where it is not installed, and one line
// at the end of the run says so. Nothing is installed here; .ci/run installs DEBIAN_PACKAGES, which lists the same ones.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The programs that tests want, with the Debian package of each. */
export const PROGRAMS = {
  chromium: 'chromium',
  curl: 'curl',
  gzip: 'gzip',
  'libdeflate-gunzip': 'libdeflate-tools',
  openssl: 'openssl',
  python3: 'python3',
} as const;

/** A program that a test may want. */
export type Program = keyof typeof PROGRAMS;

/** Whether a program is on the PATH, for `test.skipIf(!hasProgram('curl'))`. Looks at the file system each time. */
export function hasProgram(name: Program, path = process.env['PATH'] ?? ''): boolean {
  return path.split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The one line about programs that are missing, or undefined when none is. */
export function skippedLine(missing: readonly Program[]): string | undefined {
  if (missing.length === 0) return undefined;
  const packages = missing.map((name) => PROGRAMS[name]).join(' ');
  return `Skipped the tests that drive ${missing.join(', ')} (not installed; on Debian: apt-get install ${packages})`;
}

/** A vitest reporter that prints the line at the end of a run. */
export class SkippedPrograms {
  onTestRunEnd(): void {
    const names = Object.keys(PROGRAMS) as Program[];
    const line = skippedLine(names.filter((name) => !hasProgram(name)));
    if (line !== undefined) process.stdout.write(`${line}\n`);
  }
}
