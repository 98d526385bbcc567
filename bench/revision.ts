// Another revision of this project beside this tree: its sources, and a snapshot that its own import made of the same data.
// Takes the sources by `git archive`, which leaves the repository as it is. Called by load.ts.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { OperationError } from '../data/operationError.ts';
import { importHash, textHash, type DataSet } from './dataSet.ts';

/** A revision that is ready to be served: its tree and its snapshot. */
export interface Revision {
  readonly name: string;
  readonly root: string;
  readonly snapshot: string;
}

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * Prepares a revision under `cacheDirectory`, with the packages of this tree. A revision whose import is this tree's is
 * given this tree's snapshot. Cost: an import where it is another one, once. Throws OperationError `usage` for a name
 * that is none.
 */
export async function prepareRevision(
  name: string,
  { directory, snapshot }: DataSet,
  cacheDirectory: string,
): Promise<Revision> {
  const commit = await commitOf(name);
  const root = path.join(cacheDirectory, 'revisions', commit);
  if (!existsSync(root)) await extract(commit, root);
  if ((await importHash(root)) === (await importHash(ROOT))) return { name: commit, root, snapshot };
  const own = `${root}-${textHash(directory)}.snapshot`;
  if (!existsSync(own)) {
    await run(process.execPath, [path.join(root, 'server/cli.ts'), 'import', directory, '-o', own]);
  }
  return { name: commit, root, snapshot: own };
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
  const unfinished = `${root}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  const archive = `${unfinished}.tar`;
  await run('git', ['archive', '--output', archive, commit], { cwd: ROOT });
  await run('tar', ['-x', '-f', archive, '-C', unfinished]);
  await rm(archive);
  await symlink(path.join(ROOT, 'node_modules'), path.join(unfinished, 'node_modules'));
  await rename(unfinished, root);
}
