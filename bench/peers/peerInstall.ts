// Installs the peers of the replica into the cache, on demand only. SQLite's binding is native code for one version of
// Node: it is compiled for the machine's Node and runs on it.
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { textHash } from '../load/dataSet.ts';
import { removedAtEnd } from '../processes/ending.ts';

const run = promisify(execFile);
const SOURCES = fileURLToPath(new URL('./programs', import.meta.url));
const INSTALL_MS_MAX = 600_000;

/** Peers that are ready to run: their Node and the folder of their programs. */
export interface InstalledPeers {
  readonly node: string;
  readonly folder: string;
}

/** The peers, or the reason in one line why they are not available. */
export type PeerInstall = InstalledPeers | { readonly missing: string };

/**
 * Installs the peers under `cacheDirectory` with `npm ci`, once for each lock file and Node. Cost: a minute if SQLite
 * has to be compiled.
 */
export async function installPeers(cacheDirectory: string): Promise<PeerInstall> {
  const searchPath = process.env['PATH'] ?? '';
  const directories = searchPath.split(path.delimiter).filter((directory) => !directory.includes('node_modules'));
  const environment = { PATH: directories.join(path.delimiter) };
  const node = programOf(directories, 'node');
  if (node === undefined) return { missing: 'no Node on the PATH beside the one of this project' };
  const { stdout: version } = await run(node, ['--version']);
  const lock = await readFile(path.join(SOURCES, 'package-lock.json'), 'utf8');
  const folder = path.join(cacheDirectory, 'peers', textHash(`${lock} ${version}`));
  try {
    if (!existsSync(folder)) await installInto(folder, environment);
    await cp(SOURCES, folder, { recursive: true });
    return { node, folder };
  } catch (error) {
    return { missing: `npm ci failed: ${lastLine(error)}` };
  }
}

function programOf(directories: readonly string[], name: string): string | undefined {
  const files = directories.map((directory) => path.join(directory, name));
  return files.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

async function installInto(folder: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const unfinished = removedAtEnd(`${folder}.unfinished`);
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await cp(SOURCES, unfinished, { recursive: true });
  const options = { cwd: unfinished, env: { ...process.env, ...environment }, timeout: INSTALL_MS_MAX };
  await run('npm', ['ci', '--no-audit', '--no-fund'], options);
  // Checks the binding: npm does not fail if an install script is refused.
  await run('node', ['--eval', "new (require('better-sqlite3'))(':memory:')"], options);
  await rename(unfinished, folder);
}

function lastLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const lines = text.split('\n').filter((line) => /\S/.test(line) && !/^npm (warn|notice)/.test(line));
  return lines.at(-1)?.trim() ?? 'without a word';
}
