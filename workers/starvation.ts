// What the system says when it has run out: of descriptors, threads or memory. No bug of ours, and over by itself, as
// a rule. One table of such words; add the next one here.

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
