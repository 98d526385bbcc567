// A thread that decodes runs of lines: order in, packed batch out, one at a time.
// Holds one decoder per collection; knows no file and builds nothing.
import { parentPort } from 'node:worker_threads';
import type { Decoder } from './decode.ts';
import { decodeLines, decoderOf, packBatch, type DecodeOrder } from './decoders.ts';

const decoders = new Map<string, Decoder>();

parentPort?.on('message', (order: DecodeOrder) => {
  const decoder = decoders.get(order.collection) ?? decoderOf(order.collection);
  decoders.set(order.collection, decoder);
  const packed = packBatch(decodeLines(decoder, order.lines));
  parentPort?.postMessage(packed, [packed.buffer]);
});
