// Which threads have fallen silent: those whose word stands still for some looks, each told once.
import { expect, test } from 'vitest';
import { LOOK_MS, SilenceWatch, SILENT_LOOKS } from '../../../../server/process/servingThreads.ts';

test('a thread is silent at the last of the looks that find its word as it was, and is told of once', () => {
  const watch = new SilenceWatch();
  const [turning, standing] = [{ beats: new Int32Array(1) }, { beats: new Int32Array(1) }];
  const silent: [number, unknown][] = [];
  for (let i = 0; i < 3 * SILENT_LOOKS; i++) {
    Atomics.add(turning.beats, 0, 1);
    for (const thread of [turning, standing]) if (watch.isFallenSilent(thread)) silent.push([i, thread]);
  }
  expect(silent).toEqual([[SILENT_LOOKS, standing]]);
});

test('a thread that turns again in time is not', () => {
  const watch = new SilenceWatch();
  const thread = { beats: new Int32Array(1) };
  for (let i = 0; i < 5 * SILENT_LOOKS; i++) {
    if (i % SILENT_LOOKS === 0) Atomics.add(thread.beats, 0, 1);
    expect(watch.isFallenSilent(thread)).toBe(false);
  }
});

test('that takes ten seconds', () => {
  expect(SILENT_LOOKS * LOOK_MS).toBe(10_000);
});
