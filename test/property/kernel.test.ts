// The kernel and its reference implementation change the same memories in the same way: random bytes, every alignment,
// the very ends of memory.
import { describe, expect, test } from 'vitest';
import { BASE_AT, END_AT, FORM, KEEP_STORED, NEEDLE_AT, RANGES_AT, ROOM_AT } from '../../engine/kernel/layout.ts';
import type { Kernel } from '../../engine/kernel/contract.ts';
import { kernels, newKernel } from '../../engine/kernel/kernel.ts';
import { newScratch, reserve, type Scratch } from '../../engine/kernel/own.ts';
import { twinKernel } from '../support/kernelTwin.ts';
import { randomOf, type Random } from '../support/random.ts';

const PAGE_BYTES = 65_536;
const ROUNDS = 400;
const SEED = 20_261_121;

/** One kernel with its copies of the memories. */
interface World {
  readonly kernel: Kernel;
  readonly own: Scratch;
}

/** The same memories twice: one for the kernel, one for the reference. Records are at the end of the source memory. */
class Twins {
  readonly source = new WebAssembly.Memory({ initial: 2, maximum: 2, shared: true });
  readonly positions = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  readonly bytes = new Uint8Array(this.source.buffer);
  readonly links = new Uint32Array(this.positions.buffer);
  readonly #worlds: readonly World[] = [newKernel, twinKernel].map((make) => {
    const own = newScratch();
    reserve(own, PAGE_BYTES);
    return { kernel: make(this.source, this.positions, own), own };
  });

  /** Makes the same change in both worlds. */
  prepare(change: (own: Scratch) => void): void {
    for (const { own } of this.#worlds) change(own);
  }

  /**
   * Expects the same result from both, and the same bytes from `ROOM_AT` to the address that `end` computes from the
   * result.
   */
  expectSame(run: (kernel: Kernel) => number | void, end: (answer: number) => number, what: string): number {
    const [fast, slow] = this.#worlds.map(({ kernel, own }) => {
      const answer = run(kernel) ?? 0;
      return {
        answer,
        bytes: Buffer.from(own.bytes.slice(ROOM_AT, Math.max(ROOM_AT, end(answer)))).toString('latin1'),
      };
    });
    expect(fast, what).toEqual(slow);
    return fast!.answer;
  }
}

/** Runs a property with many seeds; the message of a failure contains its seed. */
function rounds(property: (random: Random, what: string) => void): void {
  for (let round = 0; round < ROUNDS; round++) property(randomOf(SEED + round), `seed ${SEED + round}`);
}

const twins = new Twins();
const END = twins.bytes.length;

function filled(random: Random, bytes: Uint8Array, letters: number): void {
  for (let i = 0; i < bytes.length; i++) bytes[i] = 97 + random.integer(0, letters);
}

test('uses a kernel that the runtime compiles in threads', () => {
  expect(kernels.make).toBe(newKernel);
  expect(String(newKernel(twins.source, twins.positions, newScratch()).copy)).toContain('[native code]');
});

test('copies and gathers the same bytes as the reference, to any alignment, up to the last byte of memory', () => {
  filled(randomOf(SEED), twins.bytes, 26);
  rounds((random, what) => {
    const ranges = random.several(0, 20, () => {
      const from = random.chance(0.2) ? END - random.integer(0, 600) : random.integer(0, END);
      return [from, random.integer(0, Math.min(600, END - from) + 1)] as const;
    });
    twins.prepare(({ words }) => words.set(ranges.flat(), RANGES_AT / 4));
    const to = ROOM_AT + random.integer(0, 40);
    const bytes = ranges.reduce((sum, [, length]) => sum + length, 0);
    const end = twins.expectSame(
      (kernel) => kernel.gather(RANGES_AT, ranges.length, to),
      (answer) => answer,
      what,
    );
    expect(end, what).toBe(to + bytes);
    const [from, length] = ranges[0] ?? [END, 0];
    twins.expectSame(
      (kernel) => kernel.copy(to, from, length),
      () => to + length,
      what,
    );
  });
});

/** Writes records full of own URLs, links and near misses, so that they end at `end`. Returns their range. */
function writtenRecords(random: Random, end: number): { start: number; first: number; last: number } {
  const base = 'http://stored.example/x'.slice(0, random.integer(8, 24));
  const paths = [
    '/api/v3/projects/12/?format=api',
    '/api/v3/',
    '/api/v3/a/1/?format=ap',
    '/api/v2/a/1/?format=api',
    '',
  ];
  const near = [
    '/api/v3//1/?format=api',
    '/api/v3/a/x/?format=api',
    '/api/v3/a/1/?format=api#',
    '/api/v3/a\\"/1/?format=api',
  ];
  const pieces: { readonly text: string; readonly isUrl: boolean }[] = [];
  for (const path of random.several(0, 12, () => random.pick([...paths, ...near]))) {
    pieces.push({ text: 'x'.repeat(random.pick([0, 1, 15, 16, 17, 100, 511, 512, 700])), isUrl: false });
    pieces.push({ text: `${base}${path}"`, isUrl: true });
  }
  pieces.push({ text: 'y'.repeat(random.pick([0, 1, 7, 40])), isUrl: false });
  const text = pieces.map((piece) => piece.text).join('');
  const start = end - text.length;
  twins.bytes.set(Buffer.from(text), start);
  const growth = random.integer(-4, 5);
  const first = random.integer(0, 5);
  const origin = start - 4096 - random.integer(0, 64);
  let at = start;
  let n = first;
  for (const piece of pieces) {
    if (piece.isUrl) twins.links[7 + n] = at - origin - growth * n++;
    at += piece.text.length;
  }
  const ends = [`/?format=${'z'.repeat(random.integer(0, 40))}`, undefined];
  const bases = [`https://another.example/${'w'.repeat(random.integer(0, 60))}`, undefined];
  setForm({ origin, growth, urlBytes: base.length, base: random.pick(bases), end: random.pick(ends) });
  return { start, first, last: n };
}

interface Form {
  readonly origin: number;
  readonly growth: number;
  readonly urlBytes: number;
  readonly base: string | undefined;
  readonly end: string | undefined;
}

function setForm({ origin, growth, urlBytes, base, end }: Form): void {
  twins.prepare(({ words, bytes }) => {
    words[FORM.origin / 4] = origin;
    words[FORM.links / 4] = 7 * 4;
    words[FORM.growth / 4] = growth;
    words[FORM.urlBytes / 4] = urlBytes;
    words[FORM.baseBytes / 4] = base?.length ?? KEEP_STORED;
    words[FORM.endBytes / 4] = end?.length ?? KEEP_STORED;
    bytes.set(Buffer.from(base ?? ''), BASE_AT);
    bytes.set(Buffer.from(end ?? ''), END_AT);
  });
}

describe('rewrites records like the reference', () => {
  test.each([
    ['near the end of memory', (random: Random) => END - random.integer(0, 40)],
    ['in the middle', (random: Random) => END - PAGE_BYTES + random.integer(0, 64)],
  ])('%s', (_, endOf) => {
    filled(randomOf(SEED), twins.bytes, 26);
    rounds((random, what) => {
      const end = endOf(random);
      const { start, first, last } = writtenRecords(random, end);
      const to = ROOM_AT + random.integer(0, 40);
      const digit = random.pick([0, 0x32]);
      twins.prepare(({ words }) => void (words[FORM.digit / 4] = digit));
      const links = twins.expectSame(
        (kernel) => kernel.countLinkEnds(start, end, first, last),
        () => 0,
        what,
      );
      expect(links, what).toBeLessThanOrEqual(last - first);
      twins.expectSame(
        (kernel) => kernel.splice(start, end, first, last, to),
        (answer) => answer,
        what,
      );
      twins.prepare(({ words }) => void (words[FORM.digit / 4] = 0x32));
      const patched = twins.expectSame(
        (kernel) => kernel.patch(start, end, first, last, to),
        (answer) => answer,
        what,
      );
      expect(patched, what).toBe(to + end - start);
    });
  });
});

test('searches like the reference, in any part of memory and up to its end', () => {
  rounds((random, what) => {
    filled(random, twins.bytes.subarray(END - 700), random.integer(1, 4));
    const end = END - random.integer(0, 100) * random.integer(0, 2);
    const start = end - random.integer(0, 600);
    const from = random.integer(start - 40, end);
    const needle = random.chance(0.7)
      ? twins.bytes.slice(from, from + random.integer(1, 24))
      : Uint8Array.from(random.several(1, 24, () => 97 + random.integer(0, 3)));
    twins.prepare(({ bytes }) => bytes.set(needle, NEEDLE_AT));
    const at = twins.expectSame(
      (kernel) => kernel.indexOf(start, end, needle.length),
      () => 0,
      what,
    );
    const text = Buffer.from(twins.bytes.slice(start, end));
    const expected = text.indexOf(needle);
    expect(at >>> 0, what).toBe((expected < 0 ? -1 : start + expected) >>> 0);
  });
});

test('combines and ranks bitmaps like the reference, of any length', () => {
  rounds((random, what) => {
    const bytes = random.integer(0, 70) * 8;
    const other = ROOM_AT + bytes;
    const ranks = other + bytes;
    const words = random.several(bytes / 2, bytes / 2 + 1, () => Math.floor(random.unit() * 2 ** 32));
    twins.prepare((own) => own.words.set(words, ROOM_AT / 4));
    const directory = (Math.ceil(bytes / 64) + 1) * 4;
    const before = twins.expectSame(
      (kernel) => kernel.rank(ROOM_AT, bytes, ranks),
      () => ranks + directory,
      what,
    );
    twins.expectSame(
      (kernel) => kernel.and(ROOM_AT, other, bytes),
      () => ranks + directory,
      what,
    );
    const after = twins.expectSame(
      (kernel) => kernel.rank(ROOM_AT, bytes, ranks),
      () => ranks + directory,
      what,
    );
    expect(after, what).toBeLessThanOrEqual(before);
  });
});
