// The program's TypeScript as JavaScript, kept since an earlier start, so that no thread strips the same types again.
// Plain JavaScript, since it is read before any type is stripped. Loaded by launch.js and servingThread.js before all else;
// keepProgram.js fills the directory. Where nothing is kept, or a file has changed since, Node strips as ever.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { isMainThread, Worker } from 'node:worker_threads';

/**
 * Where the program is kept: with the installation, so that who can write there can change the program itself. Not a
 * directory for temporary files, where others could lay code for us to run.
 */
export const KEPT_DIRECTORY = new URL('../node_modules/.cache/catalogue-replica/program/', import.meta.url);

/** A start is over by then, and a short command has ended. */
const KEEP_AFTER_MS = 5000;

/** The file that a module of this URL is kept in: one for each, so that a change takes the place of what was before. */
export function keptFile(url) {
  return new URL(`${hash('sha256', url).slice(0, 32)}.js`, KEPT_DIRECTORY);
}

/**
 * The last line of a kept file: what it was made of, and by which Node. At the end, so that lines keep their numbers; a
 * file without it was cut short.
 */
export function markOf(source) {
  return `\n// of ${hash('sha256', source)} by Node ${process.versions.node}\n`;
}

/** The module of this URL as JavaScript, where it is kept of this source; undefined elsewhere. Cost: a small file, 0.1 ms. */
export function keptSource(url, source) {
  try {
    const kept = readFileSync(keptFile(url), 'utf8');
    return kept.endsWith(markOf(source)) ? kept : undefined;
  } catch {
    return undefined;
  }
}

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const kept = loaded.format === 'module-typescript' ? keptSource(url, loaded.source) : undefined;
    return kept === undefined ? loaded : { format: 'module', source: kept, shortCircuit: true };
  },
});

/** Without its warning that stripping is experimental, and without a word where nothing can be written. */
function keep() {
  const worker = new Worker(new URL('keepProgram.js', import.meta.url), { stderr: true });
  worker.on('error', () => {});
  worker.unref();
}

if (isMainThread) setTimeout(keep, KEEP_AFTER_MS).unref();
