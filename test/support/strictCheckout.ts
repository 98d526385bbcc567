// A checkout that can import only the declared dependencies, as after `npm ci --omit=dev` with a strict layout of
// node_modules.
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryDirectory } from './dataSets.ts';
import { projectFiles, readProjectFile, ROOT } from './sources.ts';

/** Copies the product into a new folder, with links to its dependencies but `without`. Returns the folder. */
export function strictCheckout(without: readonly string[] = []): string {
  const directory = temporaryDirectory();
  const files = projectFiles().filter((path) => /^(?:package\.json$|(?:engine|data|workers|server)\/)/.test(path));
  for (const path of files) cpSync(join(ROOT, path), join(directory, path));
  const { dependencies } = JSON.parse(readProjectFile('package.json')) as { readonly dependencies: object };
  for (const name of Object.keys(dependencies)) {
    if (without.includes(name)) continue;
    const link = join(directory, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), link);
  }
  return directory;
}
