// Releases the memory of a generation that is no longer served. V8 sees a few small objects, not the gigabytes that
// they refer to, and would collect them late. The thread therefore forces collections at growing intervals until the
// last reader is done.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The first wait, its growth factor, and the longest wait. */
const FIRST_MS = 250;
const GROWTH = 2;
const WAIT_MS_MAX = 60_000;

/**
 * Resolves when nothing in this thread reads these memories any more; a response that is sent slowly still does. The
 * caller must drop its references. Cost: some 10 ms per collection of the thread's own heap. The timers keep no process
 * alive.
 */
export function whenReleased(memories: readonly WebAssembly.Memory[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watched: Watched = {
    remaining: memories.length,
    // Registers the buffer, not the memory: both the views and the memory refer to the buffer.
    registry: new FinalizationRegistry(() => void watched.remaining--),
    resolve,
  };
  for (const { buffer } of memories) watched.registry.register(buffer, undefined);
  watching.add(watched);
  checkReleases();
  return promise;
}

/** Collects once after `FIRST_MS`, for a load that failed. */
export function collectSoon(): void {
  setTimeout(() => (collect ??= collector())(), FIRST_MS).unref();
}

interface Watched {
  /** Memories that are still referenced. */
  remaining: number;
  /** Referenced here, because a registry that is collected itself reports nothing. */
  readonly registry: FinalizationRegistry<undefined>;
  readonly resolve: () => void;
}

const watching = new Set<Watched>();
let timer: NodeJS.Timeout | undefined;
let collect: (() => void) | undefined;

/** Checks for released memories after `waitMs` instead of at the scheduled time. */
export function checkReleases(waitMs = FIRST_MS): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    for (const watched of watching) {
      if (watched.remaining > 0) continue;
      watching.delete(watched);
      watched.resolve();
    }
    if (watching.size === 0) return;
    collect ??= collector();
    collect();
    checkReleases(Math.min(waitMs * GROWTH, WAIT_MS_MAX));
  }, waitMs).unref();
}

/** V8's `gc` function, which a new context exposes once the flag is set. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
