// Errors that mean that the system has run out of a resource, and errors that are bugs. They are real errors if a
// process can cause them.
import { describe, expect, test } from 'vitest';
import { isOutOfHeap, isStarved } from '../../../workers/starvation.ts';

const coded = (code: string, message = 'spawn'): Error => Object.assign(new Error(message), { code });

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('a lack of system resources', () => {
  test.each([
    'EMFILE',
    'ENFILE',
    'EAGAIN',
    'ENOMEM',
    'ENOBUFS',
    'ERR_WORKER_INIT_FAILED',
    'ERR_MEMORY_ALLOCATION_FAILED',
  ])('is recognised if a call failed with %s', (code) => {
    expect(isStarved(coded(code))).toBe(true);
  });

  test('is recognised if a buffer got no memory', () => {
    const error = thrownBy(() => new SharedArrayBuffer(Number.MAX_SAFE_INTEGER));
    expect(error).toBeInstanceOf(RangeError);
    expect(isStarved(error)).toBe(true);
  });

  test.each([
    'WebAssembly.Memory(): could not allocate memory',
    'WebAssembly.Memory.grow(): Unable to grow instance memory',
    'WebAssembly.instantiate(): Out of memory: Cannot allocate Wasm memory for new instance',
    'Array buffer allocation failed',
  ])('is recognised if V8 reports: %s', (words) => {
    expect(isStarved(new RangeError(words))).toBe(true);
    expect(isOutOfHeap(new RangeError(words))).toBe(false);
  });
});

describe('an internal error', () => {
  test.each([
    ['if a length is invalid', thrownBy(() => new Uint32Array(-1))],
    ['where the same words are no refusal of V8', new Error('Out of memory')],
    ['where a call failed for another reason', coded('EACCES')],
    ['where a thread took more heap than it may', coded('ERR_WORKER_OUT_OF_MEMORY')],
    ['where no error was thrown', 'EAGAIN'],
  ])('is recognised %s', (_, error) => {
    expect(error).toBeDefined();
    expect(isStarved(error)).toBe(false);
  });
});

test('distinguishes a thread that exceeded its heap from one that the system refused', () => {
  expect(isOutOfHeap(coded('ERR_WORKER_OUT_OF_MEMORY'))).toBe(true);
  expect(isOutOfHeap(coded('ENOMEM'))).toBe(false);
  expect(isOutOfHeap('ERR_WORKER_OUT_OF_MEMORY')).toBe(false);
});
