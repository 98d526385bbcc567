// All threads serve another generation, or none does: each makes it ready beside the one that it serves, and nobody
// serves it before everybody can.
import type { ServedData } from './loadGeneration.ts';
import { dataFor, prepare, send } from './messages.ts';
import type { ServingThread } from './startedThread.ts';

/**
 * Makes the threads serve the next generation, which is `served` then. Resolves to the number of the swap, which counts
 * up; `isReleased` resolves when no thread holds the generation before. Rejects with the error of a thread that cannot
 * open the next one; all threads serve the one before then.
 */
export async function swapAll(
  threads: readonly ServingThread[],
  served: ServedData,
  next: ServedData,
): Promise<{ readonly swap: number; readonly isReleased: Promise<unknown> }> {
  const prepared = threads.map((thread) => {
    const answer = thread.next('prepared', 'unprepared');
    prepare(thread.worker, dataFor(next));
    return answer;
  });
  const answers = await Promise.allSettled(prepared);
  const refusal = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])).find(isRefusal);
  if (refusal) {
    for (const { worker } of threads) send(worker, { kind: 'abandon' });
    throw Object.assign(new Error('a thread cannot open the new generation'), { stack: refusal.stack });
  }
  Object.assign(served, next);
  const swap = ++swaps;
  const isReleased = Promise.allSettled(threads.map((thread) => releasedBy(thread, swap)));
  const committed = threads.map((thread) => {
    const answer = thread.next('committed');
    send(thread.worker, { kind: 'commit', swap });
    return answer;
  });
  await Promise.allSettled(committed);
  return { swap, isReleased };
}

/** The number of the last swap: a slow reader may hold a generation while others go. */
let swaps = 0;

async function releasedBy(thread: ServingThread, swap: number): Promise<void> {
  while ((await thread.next('released')).swap !== swap);
}

function isRefusal<M extends { readonly kind: string }>(message: M): message is Extract<M, { kind: 'unprepared' }> {
  return message.kind === 'unprepared';
}
