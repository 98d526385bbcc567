// What requests allocate, as a program: the catalogue's handler over a snapshot, asked 10,000 times for each target.
// Its heap is so large that nothing is collected meanwhile, so that what it grows by is what was allocated. Run by
// allocations.test.ts, which has the flags that make the counts exact, with the snapshot and the targets as arguments.
import { getHeapStatistics } from 'node:v8';
import { loadSnapshot } from '../../data/store/load.ts';
import { openSnapshot } from '../../engine/engine.ts';
import { requestOf, STAYING } from './requests.ts';
import { BASE_URL, handlerWith } from './smallCatalogue.ts';

/** Of one target: what a request takes of V8's heap and in array buffers, in bytes, and how many left the thread. */
export interface Allocated {
  readonly heapBytes: number;
  readonly bufferBytes: number;
  readonly hops: number;
}

const REQUESTS = 10_000;
/**
 * The middle one of so many parts counts of the heap, since the compiler may come to something meanwhile, and the worst
 * one of the buffers, since old ones are still given back.
 */
const PARTS = 10;
const WARM_UP = 10_000;

const [file = '', ...targets] = process.argv.slice(2);
const catalogue = openSnapshot(await loadSnapshot(file, { baseUrl: BASE_URL }));
let hops = 0;
// Without kept answers: each request does its work.
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
