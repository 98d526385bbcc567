// Another revision of this project for a comparison: its sources, and a snapshot of the same data by its own import.
// `git archive` provides the sources and does not change the repository.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { OperationError } from '../../data/operationError.ts';
import { temporaryFolder } from '../processes/ending.ts';
import { LAUNCHER } from '../processes/processes.ts';
import { importHash, textHash, type BenchDataSet } from './dataSet.ts';
import type { Running } from '../processes/stage.ts';

/** A revision that can be served: its tree and its snapshot. `stop` removes the tree. */
export interface Revision extends Running {
  readonly name: string;
  readonly root: string;
  readonly snapshot: string;
}

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Prepares a revision, with the packages of this tree unless it needs others. Its snapshot is cached in
 * `cacheDirectory`; a revision with the same import uses this tree's snapshot. Cost: one import if it differs. Throws
 * OperationError `usage` for an unknown revision, `file` if its packages are not available.
 */
export async function prepareRevision(
  name: string,
  { directory, snapshot }: BenchDataSet,
  cacheDirectory: string,
): Promise<Revision> {
  const commit = await commitOf(name);
  // Not in the cache directory, because Node runs no TypeScript below `node_modules`.
  const { path: root, remove } = temporaryFolder(`catalogue-replica-${commit}-`);
  const ready = { name: commit, root, stop: async () => remove() };
  try {
    await extract(commit, root);
    if ((await importHash(root)) === (await importHash(ROOT))) return { ...ready, snapshot };
    const own = path.join(cacheDirectory, `revision-${commit}-${textHash(directory)}.snapshot`);
    if (!existsSync(own)) {
      await run(process.execPath, [path.join(root, LAUNCHER), 'import', directory, '-o', own]);
    }
    return { ...ready, snapshot: own };
  } catch (error) {
    remove();
    throw error;
  }
}

async function commitOf(name: string): Promise<string> {
  try {
    const { stdout } = await run('git', ['rev-parse', '--verify', '--short=12', `${name}^{commit}`], { cwd: ROOT });
    return stdout.trim();
  } catch (cause) {
    throw new OperationError('usage', `--against: git knows no revision ${name}`, cause);
  }
}

async function extract(commit: string, root: string): Promise<void> {
  const archive = path.join(root, 'tree.tar');
  await run('git', ['archive', '--output', archive, commit], { cwd: ROOT });
  await run('tar', ['-x', '-f', archive, '-C', root]);
  await rm(archive);
  const lock = (tree: string): Promise<string> =>
    readFile(path.join(tree, 'package-lock.json'), 'utf8').catch(() => '');
  if ((await lock(root)) === (await lock(ROOT))) {
    await symlink(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
    return;
  }
  try {
    await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: root });
  } catch (cause) {
    throw new OperationError('file', `--against: the packages of ${commit} cannot be installed`, cause);
  }
}
