import { workerData } from 'node:worker_threads';
import { type DecodeOrder, type DecoderOptions, newDecoder } from './decode.ts';
import { cpuMicros } from '../importProfile.ts';
import { takeOrders } from '../threadsInOrder.ts';
import { type ColumnTexts, storeColumn } from './column.ts';

const decode = newDecoder(workerData as DecoderOptions);

takeOrders(
  (order: DecodeOrder | ColumnTexts) => ('collection' in order ? decode(order) : storeColumn(order)),
  cpuMicros,
);
