// Output of the deflate encoder inflates, with zlib, to its input: random bytes of every kind, and inputs at the edges
// of the format's rules. It is about as short as zlib's output. Failures print their seed.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { DeflateEncoder } from '../../data/blocks/encoder.ts';
import { CHAINED_ROWS } from '../../engine/column/blocks.ts';
import { blocksTitle } from '../../engine/snapshot/sections.ts';
import { type Random, randomOf, RUN_SEED } from '../support/random.ts';

/** The bytes that a sync flush and an empty last block put after the header of a stored block. */
const END = Buffer.from([0x00, 0x00, 0xff, 0xff, 0x03, 0x00]);
const DISTANCE_MOST = 32_768;
const SAMPLE = new URL('../../data/sample/', import.meta.url);
const ZLIB = { level: 9, memLevel: 6, finishFlush: constants.Z_SYNC_FLUSH };
/** The bytes that a sync flush puts after the header of its stored block. */
const FLUSH_BYTES = 4;

const encoder = new DeflateEncoder();

/**
 * Deflates the last of some parts, with the ones before it as window or by itself. Returns the block and the inflated
 * bytes.
 */
function roundTrip(parts: readonly Uint8Array[], isChained: boolean): { block: Buffer; inflated: Buffer } {
  const window = Buffer.concat(parts);
  encoder.open(window);
  let at = 0;
  for (const part of parts) encoder.add(at, (at += part.length));
  const from = window.length - parts.at(-1)!.length;
  const block = Buffer.from(encoder.block(from, window.length, isChained ? 0 : from));
  const dictionary = isChained ? window.subarray(0, from) : Buffer.alloc(0);
  const inflated = inflateRawSync(Buffer.concat([block, END]), dictionary.length > 0 ? { dictionary } : {});
  return { block, inflated };
}

function assertRoundTrips(...parts: readonly Uint8Array[]): void {
  for (const isChained of [false, true]) {
    const { inflated } = roundTrip(parts, isChained);
    expect(inflated.equals(parts.at(-1)!), `${isChained}`).toBe(true);
  }
}

const text = (value: string): Buffer => Buffer.from(value, 'latin1');
const KINDS: readonly ((random: Random, length: number) => Buffer)[] = [
  (random, length) => Buffer.from(Array.from({ length }, () => random.integer(0, 255))),
  (random, length) => Buffer.alloc(length, random.integer(0, 255)),
  (random, length) => Buffer.from(Array.from({ length }, () => random.integer(0, random.integer(1, 40)))),
  // Words that recur, as in records.
  (random, length) => {
    const words = random.several(1, 50, () => `${random.integer(0, 9 ** random.integer(1, 9))}`);
    let line = '';
    while (line.length < length) line += `"${random.pick(words)}":`;
    return text(line).subarray(0, length);
  },
  // Frequencies like Fibonacci numbers, which lead to codes longer than the format allows.
  (random, length) => {
    const bytes: number[] = [];
    for (let [one, two, value] = [1, 1, 0]; bytes.length < length; [one, two, value] = [two, one + two, value + 1]) {
      for (let n = 0; n < one && bytes.length < length; n++) bytes.push((value * 7) & 255);
    }
    return Buffer.from(
      bytes
        .map((value) => ({ value, at: random.integer(0, 1e9) }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ value }) => value),
    );
  },
];

describe('the deflate encoder', () => {
  test(`produces blocks that inflate to the input, alone and with a window (seed ${RUN_SEED})`, () => {
    const random = randomOf(RUN_SEED);
    for (let n = 0; n < 1500; n++) {
      const length = (): number => random.integer(0, random.pick([4, 60, 400, 3000, 20_000]));
      const parts = random.several(1, 6, () => random.pick(KINDS)(random, length()));
      // An earlier part with a few changes: matches of every length, and at a long distance.
      const last = Buffer.from(random.pick(parts));
      for (let changes = random.integer(0, 5); changes > 0 && last.length > 0; changes--) {
        last[random.integer(0, last.length - 1)] = random.integer(0, 255);
      }
      assertRoundTrips(...parts, last);
    }
  });

  test('accepts empty and short inputs, repeated bytes, and inputs longer than a block', () => {
    for (const length of [0, 1, 2, 3, 4, 5, 257, 258, 259, 260, 516, 517, 16_383, 16_384, 16_385, 70_000]) {
      assertRoundTrips(Buffer.alloc(length, 0x61));
      for (const kind of KINDS) assertRoundTrips(kind(randomOf(length), length));
    }
    assertRoundTrips(KINDS[0]!(randomOf(1), 1_500_000));
  });

  test('refers back as far as the format allows, and no farther', () => {
    const needle = text('something that is nowhere else, 0123456789');
    for (const gap of [-2, -1, 0, 1, 2]) {
      const between = KINDS[0]!(randomOf(3), DISTANCE_MOST - needle.length + gap);
      const { block, inflated } = roundTrip([needle, between, needle], true);
      expect(inflated.equals(needle)).toBe(true);
      if (gap <= 0) expect(block.length).toBeLessThan(12);
      else expect(block.length).toBeGreaterThan(needle.length / 2);
    }
  });

  test('refers to nothing before its window', () => {
    const part = text('one and the same text that is there three times, which no window need show');
    encoder.open(Buffer.concat([part, part, part]));
    for (let n = 0; n < 3; n++) encoder.add(n * part.length, (n + 1) * part.length);
    const end = 3 * part.length;
    const alone = encoder.block(2 * part.length, end, 2 * part.length).length;
    const chained = encoder.block(2 * part.length, end, part.length).length;
    expect(chained).toBeLessThan(alone / 4);
    const block = Buffer.from(encoder.block(2 * part.length, end, part.length));
    expect(inflateRawSync(Buffer.concat([block, END]), { dictionary: part }).equals(part)).toBe(true);
  });

  test('produces the same bytes as when the kind of blocks was last raised', () => {
    const digest = createHash('sha256');
    const random = randomOf(1);
    for (const kind of KINDS) {
      const parts = random.several(5, 6, () => kind(random, 5000));
      for (const isChained of [false, true]) digest.update(roundTrip([...parts, parts[0]!], isChained).block);
    }
    expect(blocksTitle({ generation: '', baseUrl: '' })).toContain('"deflate blocks 3"');
    const wrong = 'raise BLOCKS_KIND in engine/snapshot/sections.ts, or kept blocks and new ones have one name';
    expect(digest.digest('hex').slice(0, 16), wrong).toBe('cfb53b9b08c8392f');
  });

  test('is at most a twentieth longer than zlib at its best, for records', () => {
    for (const name of ['observations', 'results', 'identifiers', 'parties']) {
      const lines = readFileSync(new URL(`${name}.ndjson`, SAMPLE))
        .toString('latin1')
        .trimEnd()
        .split('\n');
      const records = lines.map((line) => text(`${line}\0`));
      let [ours, zlibs] = [0, 0];
      for (let n = CHAINED_ROWS; n < records.length; n++) {
        const before = records.slice(n - CHAINED_ROWS, n);
        const dictionary = Buffer.concat(before);
        for (const isChained of [false, true]) {
          ours += roundTrip([...before, records[n]!], isChained).block.length;
          zlibs += deflateRawSync(records[n]!, isChained ? { ...ZLIB, dictionary } : ZLIB).length - FLUSH_BYTES;
        }
      }
      expect(ours / zlibs, name).toBeLessThan(1.05);
    }
  });
});
