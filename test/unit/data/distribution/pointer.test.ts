// The pointer of a target: reading returns what was written, and anything else is refused with the reason.
import { expect, test } from 'vitest';
import {
  decodePointer,
  encodePointer,
  nextPointer,
  isOlderData,
  type Pointer,
  withRefreshTime,
} from '../../../../data/distribution/target.ts';

const hash = (letter: string): string => letter.repeat(64);
const FIRST: Pointer = nextPointer(
  {
    generation: hash('a'),
    sha256: hash('b'),
    size: 4096,
    created: '2026-01-31T00:00:00Z',
    refreshed: undefined,
    counts: { notes: 3 },
    blocks: [{ address: '0123abcd', sha256: hash('c'), size: 12 }],
  },
  undefined,
);

test('reads a pointer as it was written, with a time of the data and without', () => {
  for (const pointer of [
    FIRST,
    { ...FIRST, created: undefined },
    withRefreshTime(FIRST, '2026-02-01T00:00:00.000Z'),
    nextPointer({ ...FIRST, generation: hash('d') }, FIRST),
  ])
    expect(decodePointer(encodePointer(pointer), 'x')).toEqual(pointer);
});

test('gives the next pointer the next number and a bounded list of its predecessors, each once', () => {
  let pointer = FIRST;
  for (let i = 0; i < 100; i++) pointer = nextPointer({ ...FIRST, generation: hash('def'[i % 3]!) }, pointer);
  expect(pointer.sequence).toBe(101);
  expect(pointer.earlier.map(({ generation }) => generation[0])).toEqual(['f', 'e', 'a']);
  for (let i = 0; i < 100; i++)
    pointer = nextPointer({ ...FIRST, generation: i.toString(16).padStart(64, '0') }, pointer);
  expect(pointer.earlier.length).toBe(32);
  expect(Buffer.byteLength(encodePointer(pointer))).toBeLessThan(1 << 15);
});

test('keeps the predecessor of a pointer if the same generation has other objects', () => {
  const second = nextPointer({ ...FIRST, generation: hash('d') }, FIRST);
  const compressed = nextPointer({ ...FIRST, generation: hash('d'), blocks: [] }, second);
  expect(compressed.earlier.map(({ generation }) => generation[0])).toEqual(['a']);
});

test('counts a confirmation as the next pointer of the same objects, with the same predecessors', () => {
  const second = nextPointer({ ...FIRST, generation: hash('d') }, FIRST);
  const again = withRefreshTime(second, '2026-02-01T00:00:00.000Z');
  expect(again).toEqual({ ...second, sequence: 3, refreshed: '2026-02-01T00:00:00.000Z' });
  expect(
    nextPointer({ ...FIRST, generation: hash('e') }, again).earlier.map(({ generation }) => generation[0]),
  ).toEqual(['d', 'a']);
});

test('accepts a pointer of an older version without the time at which its data was current', () => {
  const { refreshed, ...others } = JSON.parse(encodePointer(FIRST)) as Record<string, unknown>;
  expect(refreshed).toBeNull();
  expect(decodePointer(JSON.stringify(others), 'x')).toEqual(FIRST);
});

test('compares the age of data by the instant, and never without one', () => {
  const of = (created: string | undefined): { created: string | undefined } => ({ created });
  expect(isOlderData(of('2026-01-01T00:00:00+02:00'), of('2026-01-01T00:00:00Z'))).toBe(true);
  expect(isOlderData(of('2026-01-01T00:00:00Z'), of('2026-01-01T00:00:00Z'))).toBe(false);
  expect(isOlderData(of(undefined), of('2026-01-01T00:00:00Z'))).toBe(false);
  expect(isOlderData(of('2026-01-01T00:00:00Z'), of(undefined))).toBe(false);
});

/** Deeper than the call stack allows. */
const NESTED = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
const members = JSON.parse(encodePointer(FIRST)) as Record<string, unknown>;
const withMember = (name: string, value: unknown): string => JSON.stringify({ ...members, [name]: value });

test.each([
  ['', /^x: current.json is no JSON: /],
  ['[]', /is no object$/],
  ['null', /is no object$/],
  [withMember('format', 2), /has format 2, expected 1$/],
  [withMember('sequence', 0), /\/sequence: expected a number from 1$/],
  [withMember('sequence', 1e300), /\/sequence/],
  [withMember('generation', '../../etc/passwd'), /\/generation: expected 64 hexadecimal digits$/],
  [withMember('sha256', `${hash('a').slice(1)}/`), /\/sha256 and \/size/],
  [withMember('size', -1), /\/sha256 and \/size/],
  [withMember('size', 2 ** 50), /\/sha256 and \/size/],
  [withMember('refreshed', 'today'), /\/refreshed: expected a time such as .*, or null$/],
  [withMember('refreshed', 1), /\/refreshed: expected a time such as .*, or null$/],
  [withMember('created', 'yesterday'), /\/created: expected a time such as .*, or null$/],
  [withMember('counts', { notes: 'many' }), /\/counts/],
  [withMember('blocks', [{ address: '../..', sha256: hash('a'), size: 1 }]), /\/blocks: expected at most 16/],
  [
    withMember(
      'blocks',
      Array.from({ length: 17 }, () => (members['blocks'] as unknown[])[0]),
    ),
    /\/blocks/,
  ],
  [withMember('earlier', [{ generation: hash('a'), objects: ['current.json'] }]), /\/earlier: expected at most 32/],
  [withMember('blocks', [{ address: ['0123abcd'], sha256: hash('a'), size: 1 }]), /\/blocks: expected at most 16/],
  [withMember('blocks', [{ address: { toString: 1 }, sha256: hash('a'), size: 1 }]), /\/blocks: expected at most 16/],
  [JSON.stringify(members).replace(/"address":"\w+"/, `"address":${NESTED}`), /\/blocks: expected at most 16/],
  [JSON.stringify(members).replace('"format":1', `"format":${NESTED}`), /has format object, expected 1$/],
  [withMember('earlier', {}), /\/earlier/],
])('is refused: %.100s', (text, message) => {
  expect(() => decodePointer(text, 'x')).toThrow(
    expect.objectContaining({ code: 'snapshot', message: expect.stringMatching(message) as string }) as Error,
  );
});
