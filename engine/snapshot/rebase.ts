// Replaces the placeholder by the base URL while record bytes are copied from the file to shared memory. The caller
// reads the file.
import { PLACEHOLDER } from '../column/records.ts';
import type { Section } from './directory.ts';
import type { Refusal } from './header.ts';

/**
 * Returns a refusal unless `links` ascend, and placeholders at these positions neither overlap nor end after `bytes`,
 * the length of the record bytes. Cost: one pass over them.
 */
export function findMisplacedLink(links: Uint32Array, bytes: number): Refusal | undefined {
  let end = 0;
  for (let i = 0; i < links.length; i++) {
    if (links[i]! < end) return { refusal: `own URL ${i} at ${links[i]}, expected it at ${end} or later` };
    end = links[i]! + PLACEHOLDER.length;
  }
  return end <= bytes ? undefined : { refusal: `the last own URL ends at ${end}, past the end at ${bytes}` };
}

/**
 * Returns a refusal if record bytes are too short for their number of placeholders. That number decides how much memory
 * they take with the base URL. `links` maps the sections of record bytes to those of positions. Cost: a step per
 * section.
 */
export function checkLinkCount(sections: readonly Section[], links: ReadonlyMap<number, number>): Refusal | undefined {
  for (const [bytes, at] of links) {
    const { name, width, bytes: positions } = sections[at]!;
    if (width === 4 && (positions / 4) * PLACEHOLDER.length <= sections[bytes]!.bytes) continue;
    return { refusal: `section ${name}: ${positions} bytes in elements of ${width}, more than own URLs in their run` };
  }
  return undefined;
}

/**
 * Copies record bytes to `target`, and replaces the placeholder at every position of `links` by `base`. Pieces come in
 * order and may end anywhere. `target` must have room for all bytes and the growth of every link. `links` must have
 * passed `findMisplacedLink`. Cost: one copy, and a short write per link.
 */
export class Rebase {
  readonly #target: Uint8Array;
  readonly #links: Uint32Array;
  readonly #base: Uint8Array;
  #link = 0;
  #from = 0;
  #written = 0;

  constructor(target: Uint8Array, links: Uint32Array, base: Uint8Array) {
    this.#target = target;
    this.#links = links;
    this.#base = base;
  }

  /** Copies the bytes that are at `start` in the section. */
  piece(bytes: Uint8Array, start: number): void {
    const links = this.#links;
    const end = start + bytes.length;
    while (this.#link < links.length && links[this.#link]! < end) {
      const at = links[this.#link]!;
      this.#copy(bytes, start, at);
      this.#target.set(this.#base, this.#written);
      this.#written += this.#base.length;
      this.#from = at + PLACEHOLDER.length;
      this.#link++;
    }
    this.#copy(bytes, start, end);
  }

  #copy(bytes: Uint8Array, start: number, end: number): void {
    if (this.#from >= end) return;
    const part = bytes.subarray(this.#from - start, end - start);
    this.#target.set(part, this.#written);
    this.#written += part.length;
    this.#from = end;
  }
}
