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

/** Starts `threads` threads, reading through the same descriptor. Their failures are those of SectionLoader. */
export function startLoadThreads(
  placed: PlacedFile,
  threads: number,
  onBytes: (bytes: number) => void,
): readonly RemoteLoader[] {
  return Array.from({ length: threads }, () => {
    const worker = new Worker(new URL('./loadThread.ts', import.meta.url), { workerData: placed });
    return {
      load: (indexes) => {
        worker.postMessage(indexes);
        return settled(worker, onBytes);
      },
      close: async () => void (await worker.terminate()),
    };
  });
}

function settled(worker: Worker, onBytes: (bytes: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      worker.off('message', onMessage);
      worker.off('error', onError);
      settle();
    };
    const onError = (error: unknown): void => end(() => reject(error));
    const onMessage = (reply: LoadReply): void => {
      if (reply.kind === 'bytes') onBytes(reply.bytes);
      else if (reply.kind === 'done') end(resolve);
      else end(() => reject(new OperationError(reply.code, reply.message)));
    };
    worker.on('message', onMessage);
    worker.on('error', onError);
  });
}
