// Errors that mean a lack of descriptors, threads or memory. They are no bugs and usually pass. To add one, add it to
// this table.

const WORDS: ReadonlySet<unknown> = new Set([
  'EMFILE',
  'ENFILE',
  'EAGAIN',
  'ENOMEM',
  'ENOBUFS',
  // A thread that got no descriptor or no system thread.
  'ERR_WORKER_INIT_FAILED',
  'ERR_MEMORY_ALLOCATION_FAILED',
]);

/** V8 has no error code for memory that it did not get. */
const REFUSED_MEMORY = /could not allocate memory|allocation failed|Unable to (?:allocate|grow)|Out of memory/i;

/** Whether an error means that descriptors, threads or memory ran out. */
export function isStarved(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return WORDS.has((error as NodeJS.ErrnoException).code) || (error instanceof RangeError && isRefusal(error));
}

function isRefusal({ message }: RangeError): boolean {
  return REFUSED_MEMORY.test(message);
}

/** Whether a thread exited because it exceeded its heap limit. */
export function isOutOfHeap(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** Called for each thread that died, or that could not start for lack of system resources. */
export type OnLostThread = (error: unknown, isStarvation: boolean) => void;
