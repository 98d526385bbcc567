// A hook of Node that keeps what a .ts file is without its types, for the next process and thread that loads it: most
// of what a short-lived server costs is the parser that strips types, in each of its threads. URLs, lines and columns
// stay those of the sources. JavaScript, since it runs before the first .ts file, on any Node that a test starts.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { threadId } from 'node:worker_threads';

const KEPT = fileURLToPath(new URL('../../node_modules/.cache/catalogue-replica/stripped', import.meta.url));

/** The JavaScript of a source; kept under a hash of the source, so that nothing stale is found. */
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

/** What cannot be kept, as in a process that a test gives no room to write, is stripped again the next time. */
function keep(file, stripped) {
  // Another thread may write the same: a file appears whole.
  const written = `${file}.${process.pid}-${threadId}`;
  try {
    mkdirSync(KEPT, { recursive: true });
    writeFileSync(written, stripped);
    renameSync(written, file);
  } catch {
    rmSync(written, { force: true });
  }
}

/** Tests read what a program says: that this function is experimental is none of it. */
function withoutWarning(act) {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return act();
  } finally {
    process.emitWarning = emitWarning;
  }
}

// A Node that is too old for this runs none of our sources either.
module.registerHooks?.({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:') || !url.endsWith('.ts') || url.includes('/node_modules/'))
      return nextLoad(url, context);
    const source = strippedOf(readFileSync(fileURLToPath(url), 'utf8'));
    return { format: 'module', source, shortCircuit: true };
  },
});
