// What the system says when it has run out: of descriptors, threads or memory. No bug of ours, and over by itself, as
// a rule. One table of such words; add the next one here.
import { setTimeout as wait } from 'node:timers/promises';

const WORDS: ReadonlySet<unknown> = new Set([
  'EMFILE',
  'ENFILE',
  'EAGAIN',
  'ENOMEM',
  'ENOBUFS',
  // A thread that got no descriptor or no thread of the system.
  'ERR_WORKER_INIT_FAILED',
  'ERR_MEMORY_ALLOCATION_FAILED',
]);

/** V8 has no code for memory that it did not get. */
const REFUSED_MEMORY = /could not allocate memory|allocation failed|Unable to (?:allocate|grow)|Out of memory/i;

/** Whether an error says that descriptors, threads or memory ran out. */
export function isStarved(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return WORDS.has((error as NodeJS.ErrnoException).code) || (error instanceof RangeError && isRefusal(error));
}

function isRefusal({ message }: RangeError): boolean {
  return REFUSED_MEMORY.test(message);
}

/** Whether a thread ended because it took more heap than it may. */
export function isOutOfHeap(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** Is told of each thread that died, or could not start for want of what the system has none of now. */
export type OnLostThread = (error: unknown, isStarvation: boolean) => void;

const WAIT_MS_MIN = 100;
const WAIT_MS_MAX = 5000;

/** How long to wait before the try behind so many failed ones, in milliseconds: twice as long each time, up to 5 s. */
export function waitMsAfter(failures: number): number {
  return failures === 0 ? 0 : Math.min(WAIT_MS_MAX, WAIT_MS_MIN * 2 ** (failures - 1));
}

/** What `work` answers, such as code that is read now: tried again while the system has run out of what that takes. */
export async function onceThereIsSome<T>(work: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      if (!isStarved(error)) throw error;
    }
    await wait(waitMsAfter(failures));
  }
}
