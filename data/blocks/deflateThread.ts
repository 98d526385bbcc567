// A thread that deflates runs of records: order in, blocks out, one at a time.
// Reads the snapshot in shared memory; knows no file but one of earlier blocks.
import { workerData } from 'node:worker_threads';
import { beNice } from '../../workers/niceness.ts';
import { takeOrders } from '../threadsInOrder.ts';
import { deflaterOf, type DeflateSource } from './deflate.ts';

// Others serve meanwhile, and nobody waits for blocks but the data that comes next.
beNice();
takeOrders(deflaterOf(workerData as DeflateSource).deflate);
