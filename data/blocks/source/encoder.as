// Deflate (RFC 1951) of records in AssemblyScript. The memory holds a window of neighbouring records. For each
// position, `before` has the distance to the last earlier position whose four bytes have the same hash.
// A record is parsed twice, alone and chained to those before it, with the same hash chains. zlib would build the
// chains twice and, with a dictionary per record, again for every record in that dictionary.
// Only bytes between `low` and `to` decide which matches are tried, so the block of a record does not depend on where
// the window begins.

const HASH_BITS: u32 = 14;
/** 2 ** 32 divided by the golden ratio, made odd: it spreads neighbouring words over all hashes. */
const HASH_FACTOR: u32 = 0x9e3779b1;
const MATCH_LEAST: u32 = 4;
const MATCH_MOST: u32 = 258;
const DISTANCE_MOST: u32 = 32_768;
/** Earlier positions that are compared at most. Four times as many save only 0.4 %. */
const STEPS_MOST: u32 = 16;
/** A match of this length is taken without checking whether the next position has a longer one. */
const LONG_MATCH: u32 = 128;
/**
 * After a match of this length the next position rarely has a longer one, so only a quarter of the steps is tried
 * there.
 */
const GOOD_MATCH: u32 = 8;
/** Symbols in one block of a record, without the pending match that may be added at its end. */
const SYMBOLS_MOST: usize = 16_384;
/** With this few symbols, dynamic codes cost more bytes than they save. */
const FEW_SYMBOLS: usize = 48;

const LITERALS: u32 = 286;
const DISTANCES: u32 = 30;
const CODE_LENGTHS: u32 = 19;
const END_OF_BLOCK: u32 = 256;
const FIRST_LENGTH: u32 = 257;
const BITS_MOST: u32 = 15;
const CODE_LENGTH_BITS_MOST: u32 = 7;

// Constant tables. LENGTH_CODE is indexed by the length, SMALL_DISTANCE by the distance minus 1, LARGE_DISTANCE by the
// distance minus 1 divided by 128.
const ORDER: usize = 0; // u8 x 19
const LENGTH_CODE: usize = 32; // u8 x 259
const SMALL_DISTANCE: usize = 304; // u8 x 256
const LARGE_DISTANCE: usize = 560; // u8 x 256
const LENGTH_BASE: usize = 832; // u16 x 29
const LENGTH_EXTRA: usize = 896; // u8 x 29
const DISTANCE_BASE: usize = 928; // u16 x 30
const DISTANCE_EXTRA: usize = 992; // u8 x 30
const FIXED_LITERAL_BITS: usize = 1024; // u8 x 288
const FIXED_DISTANCE_BITS: usize = 1312; // u8 x 30
const FIXED_LITERAL_CODES: usize = 1344; // u16 x 288
const FIXED_DISTANCE_CODES: usize = 1920; // u16 x 30

// Tables of the current block: the count of each symbol, the bits of its code, and the code. The distances directly
// follow the literals, so that one fill clears both.
const LITERAL_COUNTS: usize = 2048; // u32 x 288
const DISTANCE_COUNTS: usize = 3200; // u32 x 32
const COUNTS_BYTES: usize = 1280;
const CODE_LENGTH_COUNTS: usize = 3328; // u32 x 19
const LITERAL_BITS: usize = 3408; // u8 x 320: the bits of the distances are copied to after the last used literal
const DISTANCE_BITS: usize = 3728; // u8 x 30
const CODE_LENGTH_BITS: usize = 3760; // u8 x 19
const LITERAL_CODES: usize = 3840; // u16 x 288
const DISTANCE_CODES: usize = 4416; // u16 x 30
const CODE_LENGTH_CODES: usize = 4480; // u16 x 19
const RUNS: usize = 4544; // u16 x 316: a symbol of the code lengths, with its extra bits above it

// Scratch memory for making codes.
const WEIGHTS: usize = 5376; // u32 x 288
const SYMBOLS: usize = 6592; // u16 x 288
const KEYS: usize = 7232; // u32 x 288
const PLACES: usize = 8448; // u16 x 64
const PLACES_BYTES: usize = 128;
const LAST_PLACE: u32 = 63;
const SYMBOL_BITS: u32 = 9;
const SYMBOL_MASK: u32 = 511;
const LENGTHS: usize = 8576; // u16 x 16
const LENGTHS_BYTES: usize = 32;
const FIRST_CODES: usize = 8608; // u16 x 16

/** One more than the last position of each hash; 0 if no position has it. */
const HEADS: usize = 16_384; // u32 x 2 ** HASH_BITS
const HEADS_BYTES: usize = 4 << HASH_BITS;

// The addresses of the window; of `before`, u16 a position, 0 if no earlier position is near enough; and of `symbols`,
// u32 each.
let window: usize = 0;
let before: usize = 0;
let symbols: usize = 0;
// The position after the last parsed symbol.
let position: u32 = 0;
// Pending bits, their number, and the address for the next byte.
let bits: u64 = 0;
let held: u64 = 0;
let output: usize = 0;

// Runs once, when the module is instantiated.
makeTables();

function makeTables(): void {
  let length: u32 = 3;
  for (let code: u32 = 0; code < 28; code++) {
    const extra: u32 = code < 8 ? 0 : (code >> 2) - 1;
    store<u16>(LENGTH_BASE + (code << 1), <u16>length);
    store<u8>(LENGTH_EXTRA + code, <u8>extra);
    memory.fill(LENGTH_CODE + length, <u8>code, 1 << extra);
    length += 1 << extra;
  }
  store<u16>(LENGTH_BASE + (28 << 1), <u16>MATCH_MOST);
  store<u8>(LENGTH_CODE + MATCH_MOST, 28);
  let distance: u32 = 0;
  for (let code: u32 = 0; code < DISTANCES; code++) {
    const extra: u32 = code < 2 ? 0 : (code >> 1) - 1;
    store<u16>(DISTANCE_BASE + (code << 1), <u16>(distance + 1));
    store<u8>(DISTANCE_EXTRA + code, <u8>extra);
    if (distance < 256) memory.fill(SMALL_DISTANCE + distance, <u8>code, 1 << extra);
    else memory.fill(LARGE_DISTANCE + (distance >> 7), <u8>code, 1 << (extra - 7));
    distance += 1 << extra;
  }
  memory.fill(FIXED_LITERAL_BITS, 8, 144);
  memory.fill(FIXED_LITERAL_BITS + 144, 9, 112);
  memory.fill(FIXED_LITERAL_BITS + 256, 7, 24);
  memory.fill(FIXED_LITERAL_BITS + 280, 8, 8);
  memory.fill(FIXED_DISTANCE_BITS, 5, DISTANCES);
  makeCodes(FIXED_LITERAL_BITS, 288, FIXED_LITERAL_CODES);
  makeCodes(FIXED_DISTANCE_BITS, DISTANCES, FIXED_DISTANCE_CODES);
  // 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1 15, one a byte, the lowest byte first.
  store<u64>(ORDER, 0x0609070800121110);
  store<u64>(ORDER + 8, 0x020d030c040b050a);
  store<u32>(ORDER + 16, 0x000f010e);
}

/** Starts with another window. The arguments are the addresses of the window, its hash chains and the symbols. */
export function open(windowAt: usize, beforeAt: usize, symbolsAt: usize): void {
  window = windowAt;
  before = beforeAt;
  symbols = symbolsAt;
  memory.fill(HEADS, 0, HEADS_BYTES);
}

/**
 * Adds the positions of a record to the hash chains. Hashed words never extend beyond the record, because in another
 * window other bytes may follow it.
 */
export function chain(from: u32, to: u32): void {
  const end = to >= from + MATCH_LEAST ? to - MATCH_LEAST + 1 : from;
  let at = from;
  for (; at < end; at++) {
    const head = HEADS + (<usize>((load<u32>(window + at) * HASH_FACTOR) >> (32 - HASH_BITS)) << 2);
    const back = at + 1 - load<u32>(head);
    store<u16>(before + (<usize>at << 1), <u16>(back > at || back > DISTANCE_MOST ? 0 : back));
    store<u32>(head, at + 1);
  }
  for (; at < to; at++) store<u16>(before + (<usize>at << 1), 0);
}

/**
 * Writes the blocks of the bytes between two positions to `at`, with matches that begin at `low` or later, then the
 * header of a stored block. Returns the end address. All positions from `low` on must be in the chains.
 */
export function deflate(from: u32, to: u32, low: u32, at: usize): usize {
  output = at;
  bits = 0;
  held = 0;
  position = from;
  do block(parsed(to, low));
  while (position < to);
  put(0, 3);
  write();
  if (held > 0) store<u8>(output++, <u8>bits);
  return output;
}

/**
 * Parses one block from `position` on, with lazy matching: a match waits until the next position has no longer one.
 * Returns the end of the symbols.
 */
function parsed(to: u32, low: u32): usize {
  memory.fill(LITERAL_COUNTS, 0, COUNTS_BYTES);
  const full = symbols + (SYMBOLS_MOST << 2);
  let last = symbols;
  let at = position;
  // The match at the previous position, until the current position decides whether it is taken.
  let waiting: u32 = 0;
  let waitingBack: u32 = 0;
  while (at < to && last < full) {
    const most = min(MATCH_MOST, to - at);
    let length = max(waiting, MATCH_LEAST - 1);
    let back: u32 = 0;
    if (most > length) {
      const word = load<u32>(window + at);
      let steps = waiting >= GOOD_MATCH ? STEPS_MOST >> 2 : STEPS_MOST;
      let distance: u32 = 0;
      do {
        const step = <u32>load<u16>(before + (<usize>(at - distance) << 1));
        distance += step;
        if (step == 0 || distance > at - low || distance > DISTANCE_MOST) break;
        const other = window + at - distance;
        if (load<u32>(other) == word && load<u8>(other + length) == load<u8>(window + at + length)) {
          const equal = equalBytes(other, window + at, most);
          if (equal > length) {
            length = equal;
            back = distance;
            if (length >= LONG_MATCH || length == most) break;
          }
        }
      } while (--steps != 0);
    }
    if (back != 0) {
      if (waiting != 0) last = literal(last, at - 1);
      waiting = length;
      waitingBack = back;
      at++;
      if (length < LONG_MATCH) continue;
    } else if (waiting == 0) {
      last = literal(last, at);
      at++;
      continue;
    }
    last = match(last, waiting, waitingBack);
    at += waiting - 1;
    waiting = 0;
  }
  if (waiting != 0) {
    last = match(last, waiting, waitingBack);
    at += waiting - 1;
  }
  position = at;
  store<u32>(LITERAL_COUNTS + (END_OF_BLOCK << 2), 1);
  return last;
}

/** The number of equal bytes at two addresses, at most `most`. The caller knows that the first four are equal. */
@inline function equalBytes(one: usize, other: usize, most: u32): u32 {
  let length = MATCH_LEAST;
  while (length < most) {
    const difference = load<u64>(one + length) ^ load<u64>(other + length);
    if (difference != 0) return min(most, length + <u32>(ctz(difference) >> 3));
    length += 8;
  }
  return most;
}

@inline function literal(to: usize, at: u32): usize {
  const value: u32 = load<u8>(window + at);
  store<u32>(to, value);
  count(LITERAL_COUNTS, value);
  return to + 4;
}

@inline function match(to: usize, length: u32, back: u32): usize {
  store<u32>(to, (length << 16) | back);
  count(LITERAL_COUNTS, FIRST_LENGTH + load<u8>(LENGTH_CODE + length));
  count(DISTANCE_COUNTS, distanceCode(back));
  return to + 4;
}

@inline function count(counts: usize, symbol: u32): void {
  const at = counts + (symbol << 2);
  store<u32>(at, load<u32>(at) + 1);
}

@inline function distanceCode(back: u32): u32 {
  return back <= 256 ? load<u8>(SMALL_DISTANCE + back - 1) : load<u8>(LARGE_DISTANCE + ((back - 1) >> 7));
}

/** The bits that symbols take with codes of these lengths. */
function bitsOf(counts: usize, lengths: usize, end: u32): u32 {
  let sum: u32 = 0;
  for (let n: u32 = 0; n < end; n++) sum += load<u32>(counts + (n << 2)) * load<u8>(lengths + n);
  return sum;
}

/** Writes the parsed symbols as one block. Uses dynamic codes if they are shorter than the fixed ones. */
function block(last: usize): void {
  const fixed = bitsOf(LITERAL_COUNTS, FIXED_LITERAL_BITS, LITERALS) + bitsOf(DISTANCE_COUNTS, FIXED_DISTANCE_BITS, DISTANCES);
  if (last - symbols <= FEW_SYMBOLS << 2 || !ownCodes(last, fixed)) {
    put(2, 3);
    writeSymbols(last, FIXED_LITERAL_BITS, FIXED_LITERAL_CODES, FIXED_DISTANCE_BITS, FIXED_DISTANCE_CODES);
  }
}

/** Writes a block with dynamic codes if that is shorter than with the fixed ones. Returns whether it did. */
function ownCodes(last: usize, fixed: u32): bool {
  makeLengths(LITERAL_COUNTS, LITERALS, BITS_MOST, LITERAL_BITS);
  makeLengths(DISTANCE_COUNTS, DISTANCES, BITS_MOST, DISTANCE_BITS);
  const literals = used(LITERAL_BITS, LITERALS, FIRST_LENGTH);
  const distances = used(DISTANCE_BITS, DISTANCES, 1);
  let own: u32 = 14 + bitsOf(LITERAL_COUNTS, LITERAL_BITS, literals) + bitsOf(DISTANCE_COUNTS, DISTANCE_BITS, distances);
  memory.copy(LITERAL_BITS + literals, DISTANCE_BITS, distances);
  const runs = runsOf(literals + distances);
  makeLengths(CODE_LENGTH_COUNTS, CODE_LENGTHS, CODE_LENGTH_BITS_MOST, CODE_LENGTH_BITS);
  let lengths = CODE_LENGTHS;
  while (lengths > 4 && load<u8>(CODE_LENGTH_BITS + load<u8>(ORDER + lengths - 1)) == 0) lengths--;
  own += 3 * lengths + bitsOf(CODE_LENGTH_COUNTS, CODE_LENGTH_BITS, CODE_LENGTHS);
  for (let symbol: u32 = 16; symbol < CODE_LENGTHS; symbol++) {
    own += load<u32>(CODE_LENGTH_COUNTS + (symbol << 2)) * extraOfRun(symbol);
  }
  if (own >= fixed) return false;
  put(4, 3);
  put(literals - FIRST_LENGTH, 5);
  put(distances - 1, 5);
  put(lengths - 4, 4);
  for (let n: u32 = 0; n < lengths; n++) {
    put(load<u8>(CODE_LENGTH_BITS + load<u8>(ORDER + n)), 3);
    write();
  }
  makeCodes(CODE_LENGTH_BITS, CODE_LENGTHS, CODE_LENGTH_CODES);
  for (let at: usize = RUNS; at < runs; at += 2) {
    const run: u32 = load<u16>(at);
    const symbol = run & 255;
    put(load<u16>(CODE_LENGTH_CODES + (symbol << 1)), load<u8>(CODE_LENGTH_BITS + symbol));
    put(run >> 8, extraOfRun(symbol));
    write();
  }
  makeCodes(LITERAL_BITS, literals, LITERAL_CODES);
  makeCodes(DISTANCE_BITS, distances, DISTANCE_CODES);
  writeSymbols(last, LITERAL_BITS, LITERAL_CODES, DISTANCE_BITS, DISTANCE_CODES);
  return true;
}

/** The number of codes up to the last used one, at least `least`. */
function used(lengths: usize, all: u32, least: u32): u32 {
  let end = all;
  while (end > least && load<u8>(lengths + end - 1) == 0) end--;
  return end;
}

/** Run-length encodes the lengths of all codes and counts the symbols of that encoding. Returns the end of the runs. */
function runsOf(all: u32): usize {
  memory.fill(CODE_LENGTH_COUNTS, 0, CODE_LENGTHS << 2);
  let to: usize = RUNS;
  for (let n: u32 = 0; n < all; ) {
    const length: u32 = load<u8>(LITERAL_BITS + n);
    let left: u32 = 1;
    while (n + left < all && load<u8>(LITERAL_BITS + n + left) == length) left++;
    n += left;
    if (length == 0) {
      for (; left >= 11; left -= min(left, 138)) to = run(to, 18, min(left, 138) - 11);
      if (left >= 3) {
        to = run(to, 17, left - 3);
        left = 0;
      }
    } else {
      to = run(to, length, 0);
      for (left--; left >= 3; left -= min(left, 6)) to = run(to, 16, min(left, 6) - 3);
    }
    for (; left > 0; left--) to = run(to, length, 0);
  }
  return to;
}

@inline function run(to: usize, symbol: u32, extra: u32): usize {
  store<u16>(to, <u16>(symbol | (extra << 8)));
  count(CODE_LENGTH_COUNTS, symbol);
  return to + 2;
}

@inline function extraOfRun(symbol: u32): u32 {
  return symbol < 16 ? 0 : symbol == 18 ? 7 : symbol - 14;
}

function writeSymbols(last: usize, literalBits: usize, literals: usize, distanceBits: usize, distances: usize): void {
  for (let at = symbols; at < last; at += 4) {
    const symbol = load<u32>(at);
    if (symbol < 256) {
      put(load<u16>(literals + (symbol << 1)), load<u8>(literalBits + symbol));
    } else {
      const length = symbol >> 16;
      const code: u32 = load<u8>(LENGTH_CODE + length);
      put(load<u16>(literals + ((FIRST_LENGTH + code) << 1)), load<u8>(literalBits + FIRST_LENGTH + code));
      put(length - load<u16>(LENGTH_BASE + (code << 1)), load<u8>(LENGTH_EXTRA + code));
      const back = symbol & 0xffff;
      const far = distanceCode(back);
      put(load<u16>(distances + (far << 1)), load<u8>(distanceBits + far));
      put(back - load<u16>(DISTANCE_BASE + (far << 1)), load<u8>(DISTANCE_EXTRA + far));
    }
    write();
  }
  put(load<u16>(literals + (END_OF_BLOCK << 1)), load<u8>(literalBits + END_OF_BLOCK));
  write();
}

/** Between two calls of `write` up to 57 bits are pending. The longest symbol has 48. */
@inline function put(value: u32, width: u32): void {
  bits |= <u64>value << held;
  held += width;
}

/** Writes the whole pending bytes. The store also writes bytes after them, which the next call overwrites. */
@inline function write(): void {
  store<u64>(output, bits);
  const bytes = held >> 3;
  output += <usize>bytes;
  bits >>= bytes << 3;
  held &= 7;
}

/** Makes the codes of symbols from their lengths. The first bit of a code is its lowest bit, as deflate writes them. */
function makeCodes(lengths: usize, end: u32, codes: usize): void {
  memory.fill(LENGTHS, 0, LENGTHS_BYTES);
  for (let n: u32 = 0; n < end; n++) {
    const at = LENGTHS + (<usize>load<u8>(lengths + n) << 1);
    store<u16>(at, load<u16>(at) + 1);
  }
  store<u16>(LENGTHS, 0);
  let first: u32 = 0;
  for (let length: u32 = 1; length <= BITS_MOST; length++) {
    first = (first + load<u16>(LENGTHS + ((length - 1) << 1))) << 1;
    store<u16>(FIRST_CODES + (length << 1), <u16>first);
  }
  for (let n: u32 = 0; n < end; n++) {
    const length: u32 = load<u8>(lengths + n);
    if (length == 0) continue;
    const next = FIRST_CODES + (length << 1);
    const code: u32 = load<u16>(next);
    store<u16>(next, <u16>(code + 1));
    store<u16>(codes + (n << 1), <u16>(reversed(code) >> (16 - length)));
  }
}

@inline function reversed(code: u32): u32 {
  const pairs = ((code & 0x5555) << 1) | ((code >> 1) & 0x5555);
  const fours = ((pairs & 0x3333) << 2) | ((pairs >> 2) & 0x3333);
  const bytes = ((fours & 0x0f0f) << 4) | ((fours >> 4) & 0x0f0f);
  return ((bytes & 0xff) << 8) | (bytes >> 8);
}

/**
 * The code lengths that take the fewest bits, computed in place (Moffat and Katajainen). Longer codes than allowed are
 * cut, and others are lengthened to compensate. There are always at least two codes because some decoders reject fewer.
 */
function makeLengths(counts: usize, all: u32, most: u32, lengths: usize): void {
  memory.fill(lengths, 0, all);
  const size = sorted(counts, all);
  makeDepths(size);
  memory.fill(LENGTHS, 0, LENGTHS_BYTES);
  let taken: u32 = 0;
  for (let n: u32 = 0; n < size; n++) {
    const length = min(most, load<u32>(WEIGHTS + (n << 2)));
    addLength(length, 1);
    taken += 1 << (most - length);
  }
  // Each step drops one code of the greatest length and splits a shorter one into two. That frees one unit of code
  // space.
  for (; taken > 1 << most; taken--) {
    let length = most - 1;
    while (load<u16>(LENGTHS + (length << 1)) == 0) length--;
    addLength(most, -1);
    addLength(length, -1);
    addLength(length + 1, 2);
  }
  let n: u32 = 0;
  for (let length = most; length > 0; length--) {
    for (let left: u32 = load<u16>(LENGTHS + (length << 1)); left > 0; left--) {
      store<u8>(lengths + load<u16>(SYMBOLS + (n << 1)), <u8>length);
      n++;
    }
  }
}

@inline function addLength(length: u32, codes: i32): void {
  const at = LENGTHS + (length << 1);
  store<u16>(at, <u16>(<i32>load<u16>(at) + codes));
}

/**
 * Sorts symbols by their counts (weights), rarest first. Small counts are placed by counting, larger ones by insertion.
 */
function sorted(counts: usize, all: u32): u32 {
  memory.fill(PLACES, 0, PLACES_BYTES);
  let size: u32 = 0;
  for (let symbol: u32 = 0; symbol < all; symbol++) {
    const weight = load<u32>(counts + (symbol << 2));
    if (weight != 0) size = keyed(size, symbol, weight);
  }
  for (let symbol: u32 = 0; size < 2; symbol++) {
    if (load<u32>(counts + (symbol << 2)) == 0) size = keyed(size, symbol, 1);
  }
  let first: u32 = 0;
  for (let place: u32 = 0; place <= LAST_PLACE; place++) {
    const at = PLACES + (place << 1);
    const here: u32 = load<u16>(at);
    store<u16>(at, <u16>first);
    first += here;
  }
  const large: u32 = load<u16>(PLACES + (LAST_PLACE << 1));
  for (let n: u32 = 0; n < size; n++) {
    const key = load<u32>(KEYS + (n << 2));
    const weight = key >> SYMBOL_BITS;
    const at = PLACES + (min(weight, LAST_PLACE) << 1);
    let to: u32 = load<u16>(at);
    store<u16>(at, <u16>(to + 1));
    for (; to > large && load<u32>(WEIGHTS + ((to - 1) << 2)) > weight; to--) {
      store<u32>(WEIGHTS + (to << 2), load<u32>(WEIGHTS + ((to - 1) << 2)));
      store<u16>(SYMBOLS + (to << 1), load<u16>(SYMBOLS + ((to - 1) << 1)));
    }
    store<u32>(WEIGHTS + (to << 2), weight);
    store<u16>(SYMBOLS + (to << 1), <u16>(key & SYMBOL_MASK));
  }
  return size;
}

@inline function keyed(size: u32, symbol: u32, weight: u32): u32 {
  store<u32>(KEYS + (size << 2), (weight << SYMBOL_BITS) | symbol);
  const at = PLACES + (min(weight, LAST_PLACE) << 1);
  store<u16>(at, load<u16>(at) + 1);
  return size + 1;
}

/** Replaces the weights, in ascending order, by the depths of their leaves. */
function makeDepths(size: u32): void {
  // Left to right: the weight of each inner node, replaced by the place of its parent as soon as it has one.
  let root: u32 = 0;
  let leaf: u32 = 0;
  for (let node: u32 = 0; node < size - 1; node++) {
    let weight: u32 = 0;
    for (let child = 0; child < 2; child++) {
      if (leaf >= size || (root < node && load<u32>(WEIGHTS + (root << 2)) < load<u32>(WEIGHTS + (leaf << 2)))) {
        weight += load<u32>(WEIGHTS + (root << 2));
        store<u32>(WEIGHTS + (root << 2), node);
        root++;
      } else {
        weight += load<u32>(WEIGHTS + (leaf << 2));
        leaf++;
      }
    }
    store<u32>(WEIGHTS + (node << 2), weight);
  }
  // Right to left: the depth of each inner node.
  store<u32>(WEIGHTS + ((size - 2) << 2), 0);
  for (let node = <i32>size - 3; node >= 0; node--) {
    const at = WEIGHTS + (<u32>node << 2);
    store<u32>(at, load<u32>(WEIGHTS + (load<u32>(at) << 2)) + 1);
  }
  // Right to left: the depths of the leaves. A level has as many leaves as places that inner nodes leave free.
  let inner = <i32>size - 2;
  let to = size;
  let depth: u32 = 0;
  for (let open: u32 = 1; open > 0; depth++) {
    let taken: u32 = 0;
    while (inner >= 0 && load<u32>(WEIGHTS + (<u32>inner << 2)) == depth) {
      taken++;
      inner--;
    }
    for (; open > taken; open--) store<u32>(WEIGHTS + (--to << 2), depth);
    open = 2 * taken;
  }
}
