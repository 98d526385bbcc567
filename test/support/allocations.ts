// A program that measures the allocations of requests: it sends 10,000 of each target to the catalogue's handler. Its
// heap is too large for a collection to run meanwhile, so heap growth equals allocation. allocations.long.test.ts runs
// it with the flags that make the counts exact; the arguments are the snapshot and the targets.
import { getHeapStatistics } from 'node:v8';
import { loadSnapshot } from '../../data/store/load.ts';
import { openSnapshot } from '../../engine/engine.ts';
import { requestOf, STAYING } from './requests.ts';
import { BASE_URL, handlerWith } from './smallCatalogue.ts';

/** Per request: bytes of V8's heap and of array buffers, and how many requests left the thread. */
export interface Allocated {
  readonly heapBytes: number;
  readonly bufferBytes: number;
  readonly hops: number;
}

const REQUESTS = 10_000;
/**
 * Heap: the median of this many parts counts, because the compiler may allocate meanwhile. Buffers: the largest part
 * counts, because earlier buffers are still being freed.
 */
const PARTS = 10;
const WARM_UP = 10_000;

const [file = '', ...targets] = process.argv.slice(2);
const catalogue = openSnapshot(await loadSnapshot(file, { baseUrl: BASE_URL }));
let hops = 0;
// Without a response cache, so that each request does its work.
const handler = handlerWith(
  () => {
    hops++;
    return Promise.resolve('busy');
  },
  { answerCacheMb: 0 },
  (name) => catalogue.collection(name),
);

function ask(url: string, requests: number): void {
  const request = requestOf({ url });
  for (let i = 0; i < requests; i++) {
    const answer = handler(request, STAYING);
    if (answer instanceof Promise) continue;
    const { body } = answer;
    for (let at = 0; at < body.bytes;) at += body.pieceAt(at).length;
  }
}

function allocatedBy(url: string): Allocated {
  ask(url, WARM_UP);
  globalThis.gc!();
  hops = 0;
  const parts = Array.from({ length: PARTS }, () => {
    const before = { heap: getHeapStatistics().used_heap_size, buffers: process.memoryUsage().arrayBuffers };
    ask(url, REQUESTS / PARTS);
    const buffers = process.memoryUsage().arrayBuffers - before.buffers;
    return { heap: getHeapStatistics().used_heap_size - before.heap, buffers };
  });
  const heap = parts.map((part) => part.heap).toSorted((a, b) => a - b)[PARTS / 2]!;
  const buffers = Math.max(...parts.map((part) => part.buffers));
  return { heapBytes: (heap * PARTS) / REQUESTS, bufferBytes: (buffers * PARTS) / REQUESTS, hops };
}

process.stdout.write(JSON.stringify(targets.map(allocatedBy)));
