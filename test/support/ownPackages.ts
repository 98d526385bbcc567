// npm packages in folders of test/: they are too large for every `npm ci`, and only a few tests use them. .ci/run
// installs them on Linux on x64. Tests of a missing package are skipped, and one line at the end of the run reports
// that.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ROOT } from './sources.ts';

const FOLDERS = globSync('test/*/package.json', { cwd: ROOT }).map(dirname).toSorted();

/** Whether a folder's dependencies are installed, as by `npm install --prefix test/duckdb --no-package-lock`. */
export function isInstalled(folder: string): boolean {
  const manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as { dependencies: object };
  return Object.keys(manifest.dependencies).every((name) => existsSync(join(ROOT, folder, 'node_modules', name)));
}

/** Loads a module as code in the folder would. Throws if it is not installed. */
export function requireFrom(folder: string, module: string): unknown {
  return createRequire(join(ROOT, folder, 'package.json'))(module);
}

const NODES = 'test/otherNodes';

/** Whether the versions of Node for which uWebSockets.js has no binary are installed. */
export const hasOtherNodes: boolean = isInstalled(NODES);

/** These versions, each with the path of its program. */
export const OTHER_NODES: readonly (readonly [major: number, program: string])[] = [24, 26].map((major) => [
  major,
  join(ROOT, NODES, `node_modules/node-${major}/bin/node`),
]);

/** The line about missing packages, or undefined. */
export function missingPackages(): string | undefined {
  const missing = FOLDERS.filter((folder) => !isInstalled(folder));
  if (missing.length === 0) return undefined;
  const commands = missing.map((folder) => `npm install --prefix ${folder} --no-package-lock`);
  return `Skipped the tests that use ${missing.join(', ')} (not installed: ${commands.join('; ')})`;
}
