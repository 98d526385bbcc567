// Which threads have fallen silent: those whose word stands still for ten looks, each told once.
import { expect, test } from 'vitest';
import { SILENT_LOOKS, SilenceWatch } from '../../../../server/threads/silence.ts';

test('a thread is silent at the tenth look that finds its word as it was, and is told of once', () => {
  const watch = new SilenceWatch();
  const [turning, standing] = [{ beats: new Int32Array(1) }, { beats: new Int32Array(1) }];
  const looks = Array.from({ length: 3 * SILENT_LOOKS }, () => {
    Atomics.add(turning.beats, 0, 1);
    return watch.look([turning, standing]);
  });
  expect(looks.flatMap((silent, i) => silent.map((thread) => [i, thread]))).toEqual([[SILENT_LOOKS, standing]]);
});

test('a thread that turns again in time is not', () => {
  const watch = new SilenceWatch();
  const thread = { beats: new Int32Array(1) };
  for (let i = 0; i < 5 * SILENT_LOOKS; i++) {
    if (i % SILENT_LOOKS === 0) Atomics.add(thread.beats, 0, 1);
    expect(watch.look([thread])).toEqual([]);
  }
});
