// A thread that decodes runs of lines: order in, batch out, one at a time.
// Holds one decoder per collection; knows no file and builds nothing.
import assert from 'node:assert/strict';
import { parentPort } from 'node:worker_threads';
import { memoryOf } from '../threadsInOrder.ts';
import type { Decoder } from './decode.ts';
import { decodeLines, decoderOf, type DecodeOrder } from './decoders.ts';

const port = parentPort;
assert(port, 'decodeThread.ts runs as a thread of decoders.ts');
const decoders = new Map<string, Decoder>();

port.on('message', ({ collection, lines }: DecodeOrder) => {
  const decoder = decoders.get(collection) ?? decoderOf(collection);
  decoders.set(collection, decoder);
  const batch = decodeLines(decoder, lines);
  port.postMessage(batch, memoryOf(batch));
});
