// Mutations of DER and PEM for fuzzing: bits flipped, bytes cut out, doubled and swapped, lengths and tags that lie,
// pieces of one input put into another. Draws only from the source given, so that a seed is enough to see a case again.
import type { Random } from './random.ts';

/** Bytes and tags that parsers stumble over. */
const EVIL = [0x00, 0x01, 0x30, 0x31, 0x7f, 0x80, 0x81, 0x82, 0x84, 0x88, 0xa0, 0xa3, 0xff];

const MUTATIONS: readonly ((bytes: Buffer, random: Random, other: Buffer) => Buffer)[] = [
  (bytes, random) => changed(bytes, random, (byte) => byte ^ (1 << random.integer(0, 8))),
  (bytes, random) => changed(bytes, random, () => random.pick(EVIL)),
  (bytes, random) => changed(bytes, random, (byte) => byte + random.pick([-1, 1])),
  (bytes, random) => bytes.subarray(0, random.integer(0, bytes.length + 1)),
  (bytes, random) => replaced(bytes, random, () => Buffer.alloc(0)),
  (bytes, random) => replaced(bytes, random, (piece) => Buffer.concat([piece, piece])),
  (bytes, random) => replaced(bytes, random, (piece) => Buffer.from(piece.toReversed())),
  (bytes, random) => replaced(bytes, random, () => Buffer.from(random.several(0, 40, () => random.integer(0, 256)))),
  (bytes, random, other) => replaced(bytes, random, () => pieceOf(other, random)),
  // A length that says four gigabytes.
  (bytes, random) =>
    replaced(bytes, random, (piece) => Buffer.concat([Buffer.of(0x30, 0x84, 0xff, 0xff, 0xff, 0xff), piece])),
  // Deep nesting.
  (bytes, random) => replaced(bytes, random, () => Buffer.alloc(random.integer(2, 4000), Buffer.of(0x30, 0x80))),
];

/** One to four mutations of `bytes`, some with pieces of `other`. */
export function mutated(bytes: Buffer, other: Buffer, random: Random): Buffer {
  const steps = random.several(1, 5, () => random.pick(MUTATIONS));
  return steps.reduce((result, mutate) => mutate(result, random, other), bytes);
}

function changed(bytes: Buffer, random: Random, change: (byte: number) => number): Buffer {
  const copy = Buffer.from(bytes);
  if (copy.length > 0) {
    const at = random.integer(0, copy.length);
    copy[at] = change(copy[at]!);
  }
  return copy;
}

function replaced(bytes: Buffer, random: Random, replace: (piece: Buffer) => Buffer): Buffer {
  const start = random.integer(0, bytes.length + 1);
  const end = Math.min(bytes.length, start + random.integer(0, 40));
  return Buffer.concat([bytes.subarray(0, start), replace(bytes.subarray(start, end)), bytes.subarray(end)]);
}

function pieceOf(bytes: Buffer, random: Random): Buffer {
  const start = random.integer(0, bytes.length + 1);
  return bytes.subarray(start, start + random.integer(0, 200));
}
