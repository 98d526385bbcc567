// A thread that makes columns: their texts in, what is stored of them out, one at a time.
import assert from 'node:assert/strict';
import { parentPort } from 'node:worker_threads';
import { memoryOf } from '../threadsInOrder.ts';
import { type ColumnTexts, storedColumn } from './column.ts';

const port = parentPort;
assert(port, 'columnThread.ts runs as a thread of columnMakers.ts');

port.on('message', (made: ColumnTexts) => {
  const stored = storedColumn(made);
  port.postMessage(stored, memoryOf(stored));
});
