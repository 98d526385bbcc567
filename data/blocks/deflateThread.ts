// A thread that deflates runs of records: order in, blocks out, one at a time.
// Reads the snapshot in shared memory; knows no file but one of earlier blocks.
import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { beNice } from '../../workers/niceness.ts';
import { memoryOf } from '../threadsInOrder.ts';
import { deflaterOf, type DeflateOrder, type DeflateSource } from './deflaters.ts';

const port = parentPort;
assert(port, 'deflateThread.ts runs as a thread of deflaters.ts');
// Others serve meanwhile, and nobody waits for blocks but the data that comes next.
beNice();
const { deflate } = deflaterOf(workerData as DeflateSource);

port.on('message', (order: DeflateOrder) => {
  const run = deflate(order);
  port.postMessage(run, memoryOf(run));
});
