// Memory of lines that goes back to who reads them: nothing is handed out twice, and nothing of another length is kept.
import { expect, test } from 'vitest';
import { LineMemory } from '../../../../data/decode/lines.ts';

test('memory that was given back is taken again', () => {
  const memory = new LineMemory();
  const [one, other] = [memory.take(), memory.take()];
  expect(one.buffer).not.toBe(other.buffer);
  // Lines are a part of it.
  memory.give(one.subarray(10, 20));
  expect(memory.take().buffer).toBe(one.buffer);
  const third = memory.take();
  expect([one.buffer, other.buffer]).not.toContain(third.buffer);
  expect(third).toHaveLength(one.length);
});

test('memory of another length is let go', () => {
  const memory = new LineMemory();
  const one = memory.take();
  const others = [new Uint8Array(one.length * 2), new Uint8Array(1)];
  for (const other of others) memory.give(other);
  expect(memory.take()).toHaveLength(one.length);
});
