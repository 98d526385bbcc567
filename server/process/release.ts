// Releases the memory of a generation that is no longer served. V8 sees a few small objects instead of the gigabytes
// behind them and would collect them late, so the thread asks for a collection, at growing intervals, until the last
// reader is done.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How long the first wait is, by how much each next one is longer, and the longest. */
const FIRST_MS = 250;
const GROWTH = 2;
const WAIT_MS_MAX = 60_000;

/**
 * Resolves when nothing in this thread reads these memories any more: an answer that goes out slowly holds them. The
 * caller keeps none of them. Cost: a collection of the thread's own heap (some 10 ms) now and then; the waits keep no
 * process alive.
 */
export function released(memories: readonly WebAssembly.Memory[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watched: Watched = {
    left: memories.length,
    // Views hold the buffer, and so does the memory.
    registry: new FinalizationRegistry(() => void watched.left--),
    resolve,
  };
  for (const { buffer } of memories) watched.registry.register(buffer, undefined);
  watching.add(watched);
  checkReleases();
  return promise;
}

/** Collects once, soon, after a load that failed. */
export function collectSoon(): void {
  setTimeout(() => (collect ??= collector())(), FIRST_MS).unref();
}

/** How many are still read, and who counts: held here, since it would say nothing were it collected itself. */
interface Watched {
  left: number;
  readonly registry: FinalizationRegistry<undefined>;
  readonly resolve: () => void;
}

const watching = new Set<Watched>();
let timer: NodeJS.Timeout | undefined;
let collect: (() => void) | undefined;

/** Checks after this time whether memories are released, instead of when it would have. */
export function checkReleases(waitMs = FIRST_MS): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    for (const watched of watching) {
      if (watched.left > 0) continue;
      watching.delete(watched);
      watched.resolve();
    }
    if (watching.size === 0) return;
    collect ??= collector();
    collect();
    checkReleases(Math.min(waitMs * GROWTH, WAIT_MS_MAX));
  }, waitMs).unref();
}

/** The engine's own, which a new context shows once the flag is set. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
