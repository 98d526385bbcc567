// A thread that decodes runs of lines: order in, batch out, one at a time.
// Holds one decoder per collection; knows no file and builds nothing.
import { cpuMicros } from '../importProfile.ts';
import { takeOrders } from '../threadsInOrder.ts';
import type { Decoder } from './decode.ts';
import { decodeLines, decoderOf, type DecodeOrder } from './decoders.ts';

const decoders = new Map<string, Decoder>();

takeOrders(({ collection, takesNulls, lines }: DecodeOrder) => {
  const decoder = decoders.get(collection) ?? decoderOf(collection, takesNulls);
  decoders.set(collection, decoder);
  return decodeLines(decoder, lines);
}, cpuMicros);
