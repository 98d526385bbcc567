// A thread that deflates runs of records: order in, blocks out, one at a time.
// Reads the snapshot in shared memory; knows no file.
import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import type { LoadedSnapshot } from '../../engine/snapshot/loaded.ts';
import { openSnapshot } from '../../engine/snapshot/open.ts';
import { deflateRun } from './deflate.ts';
import type { DeflateOrder } from './deflaters.ts';

const port = parentPort;
assert(port, 'deflateThread.ts runs as a thread of deflaters.ts');
const catalogue = openSnapshot(workerData as LoadedSnapshot);

port.on('message', ({ collection, run }: DeflateOrder) => {
  const deflated = deflateRun(catalogue.collection(collection).records, run);
  port.postMessage(
    deflated,
    Object.values(deflated).map(({ buffer }) => buffer),
  );
});
