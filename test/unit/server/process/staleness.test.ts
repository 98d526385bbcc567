// The word that says whether the data is stale: from the moment on in which it is kept, before anybody is served.
import { expect, test } from 'vitest';
import { keepStaleness } from '../../../../server/process/serve.ts';

test('the word is true from the beginning on', async () => {
  const word = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  let isStale = true;
  const stop = keepStaleness(word, () => isStale);
  expect(word[0]).toBe(1);
  isStale = false;
  await expect.poll(() => word[0], { timeout: 20_000 }).toBe(0);
  stop();
});
