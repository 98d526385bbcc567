// A thread that loads sections: indexes of sections in, progress and one outcome an order out.
// Writes only to the places of its sections, in memories that all threads share.
import { parentPort, workerData } from 'node:worker_threads';
import type { LoadReply } from './loadThreads.ts';
import { OperationError } from '../operationError.ts';
import { SectionLoader, type PlacedFile } from './sectionLoader.ts';

const reply = (message: LoadReply): void => parentPort?.postMessage(message);

const loader = await SectionLoader.open(workerData as PlacedFile, (bytes) => reply({ kind: 'bytes', bytes }));

async function load(indexes: readonly number[]): Promise<void> {
  try {
    await loader.load(indexes);
    reply({ kind: 'done' });
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    reply({ kind: 'failed', code: error.code, message: error.message });
  }
}

parentPort?.on('message', (indexes: readonly number[]) => void load(indexes));
