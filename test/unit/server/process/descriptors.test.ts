// Whether the descriptors of a process are enough for its threads: refused, told of, or neither.
import { expect, test } from 'vitest';
import { scarceDescriptors } from '../../../../server/process/serve.ts';

test('a limit that leaves no connection is refused, one that leaves few is told of, others are not', () => {
  expect(() => scarceDescriptors(2, 88)).toThrow(
    /^the process may open 88 descriptors, and 2 serving threads need 89: /,
  );
  expect(scarceDescriptors(2, 89)).toMatch(/^connections that can be open at once: 1, /);
  expect(scarceDescriptors(2, 1024)).toBeUndefined();
  expect(scarceDescriptors(2, undefined)).toBeUndefined();
});
