// A serving thread as its supervisor has it, when it has ended.
import { expect, test } from 'vitest';
import { startServingThread } from '../../../../server/process/startedThread.ts';
import { swapAll } from '../../../../server/process/servingThreads.ts';
import type { ServedData } from '../../../../server/process/loadGeneration.ts';

test('nobody waits for what a thread will not say any more: a swap goes past one that ended before it', async () => {
  const hearer = { failed: () => undefined, said: () => undefined };
  const thread = startServingThread({ hasAuthority: false, hasHttp10: false }, hearer);
  await thread.worker.terminate();
  await thread.ended;
  await expect(thread.next('committed')).rejects.toThrow('ended before it answered');
  const served = { generation: { loaded: {}, blocks: undefined }, sinceMs: 0 } as unknown as ServedData;
  const next = { ...served, sinceMs: 1 };
  const { isReleased } = await swapAll([thread], served, next);
  await isReleased;
  expect(served.sinceMs).toBe(1);
});
