import { workerData } from 'node:worker_threads';
import { beNice } from '../../workers/niceness.ts';
import { takeOrders } from '../threadsInOrder.ts';
import { makeDeflater, type DeflateSource } from './deflate.ts';

// Low priority: serving threads need the CPU first, and only the data that is loaded next waits for blocks.
beNice();
takeOrders(makeDeflater(workerData as DeflateSource).deflate);
