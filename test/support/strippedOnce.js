// A hook of Node that caches .ts files without their types, for the next process and thread that loads them. Most of
// the cost of a short-lived server is the parser that strips types, in each of its threads. URLs, lines and columns
// stay those of the sources. This file is JavaScript, because it runs before the first .ts file, on any Node that a
// test starts.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { threadId } from 'node:worker_threads';

const KEPT = fileURLToPath(new URL('../../node_modules/.cache/catalogue-replica/stripped', import.meta.url));

/** The JavaScript of a source. The name of the cached file contains a hash of the source, so it cannot be stale. */
function strippedOf(source) {
  const file = `${KEPT}/${process.version}-${createHash('sha1').update(source).digest('hex')}`;
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const stripped = withoutWarning(() => module.stripTypeScriptTypes(source));
    keep(file, stripped);
    return stripped;
  }
}

/** If the file cannot be written, as on a full disk of a test, the next process strips the source again. */
function keep(file, stripped) {
  // Another thread may write the same file, so it is renamed when whole.
  const written = `${file}.${process.pid}-${threadId}`;
  try {
    mkdirSync(KEPT, { recursive: true });
    writeFileSync(written, stripped);
    renameSync(written, file);
  } catch {
    rmSync(written, { force: true });
  }
}

/** Hides the warning that this function is experimental, because tests read the output of programs. */
function withoutWarning(act) {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return act();
  } finally {
    process.emitWarning = emitWarning;
  }
}

// A Node without this hook runs none of our sources either.
module.registerHooks?.({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:') || !url.endsWith('.ts') || url.includes('/node_modules/'))
      return nextLoad(url, context);
    const source = strippedOf(readFileSync(fileURLToPath(url), 'utf8'));
    return { format: 'module', source, shortCircuit: true };
  },
});
