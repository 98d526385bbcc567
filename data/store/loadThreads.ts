// Section loaders in threads of their own, for large snapshots: most of loading is the kernel's copying and zeroing of
// pages, which two cores do in half the time.
import { Worker } from 'node:worker_threads';
import { OperationError, type OperationErrorCode } from '../operationError.ts';
import type { PlacedFile } from './sectionLoader.ts';

/** What a load thread says: bytes read, an order done, or why it was not. */
export type LoadReply =
  | { readonly kind: 'bytes'; readonly bytes: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly code: OperationErrorCode; readonly message: string };

/** A loader in another thread; one `load` at a time. `close` waits for the end of the thread. */
export interface RemoteLoader {
  load(indexes: readonly number[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts `threads` threads, reading through the same descriptor. Their failures are those of SectionLoader, and what
 * the system says that has not so many threads: thrown, and none is left then, or of `load`.
 */
export function startLoadThreads(
  placed: PlacedFile,
  threads: number,
  onBytes: (bytes: number) => void,
): readonly RemoteLoader[] {
  const loaders: RemoteLoader[] = [];
  try {
    while (loaders.length < threads) loaders.push(startLoadThread(placed, onBytes));
  } catch (error) {
    // They were asked for nothing, and read nothing.
    for (const loader of loaders) void loader.close();
    throw error;
  }
  return loaders;
}

function startLoadThread(placed: PlacedFile, onBytes: (bytes: number) => void): RemoteLoader {
  const worker = new Worker(new URL('./loadThread.ts', import.meta.url), { workerData: placed });
  // Heard from the start: a thread may die before it is asked for anything.
  const death = new Promise<never>((_, reject) => {
    worker.on('error', reject);
    worker.on('exit', (code) => reject(new Error(`a load thread ended with ${code}`)));
  });
  death.catch(() => undefined);
  return {
    load: (indexes) => {
      worker.postMessage(indexes);
      return Promise.race([death, settled(worker, onBytes)]);
    },
    close: async () => void (await worker.terminate()),
  };
}

function settled(worker: Worker, onBytes: (bytes: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const onMessage = (reply: LoadReply): void => {
      if (reply.kind === 'bytes') return onBytes(reply.bytes);
      worker.off('message', onMessage);
      if (reply.kind === 'done') resolve();
      else reject(new OperationError(reply.code, reply.message));
    };
    worker.on('message', onMessage);
  });
}
