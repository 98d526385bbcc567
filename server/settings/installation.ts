// Where the files of the installation lie that are no modules: package.json, the launcher, the embedded sample. They
// have the same places in a checkout and in a package, whose modules are one folder deeper, in dist/ (see
// server/launch.js). Nothing is ever written there.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL(import.meta.url.endsWith('.ts') ? '../../' : '../../../', import.meta.url);

/** The absolute path of a file or folder of the installation, which `path` names from its root. Looks at no disk. */
export function installed(path: string): string {
  return fileURLToPath(new URL(path, ROOT));
}

let version: string | undefined;

/**
 * The version of the program, as its package said when this was asked first: what is installed in its place while it
 * runs is not what runs. Reads one small file, once.
 */
export function packageVersion(): string {
  version ??= (JSON.parse(readFileSync(installed('package.json'), 'utf8')) as { readonly version: string }).version;
  return version;
}
