// The kernel in AssemblyScript: operations on bytes in shared memory that are slow in JavaScript. No runtime, no
// allocation, no globals. Loads read the source memory (a snapshot's). The functions of memories.wat access the other
// two memories. test/support/compileKernel.ts compiles and links both. test/support/kernelTwin.ts is the reference
// implementation.

@external("memories", "position") declare function position(at: usize): u32;
@external("memories", "ownByte") declare function ownByte(at: usize): u32;
@external("memories", "ownWord") declare function ownWord(at: usize): u32;
@external("memories", "ownLong") declare function ownLong(at: usize): u64;
@external("memories", "ownVector") declare function ownVector(at: usize): v128;
@external("memories", "setOwnByte") declare function setOwnByte(at: usize, value: u32): void;
@external("memories", "setOwnWord") declare function setOwnWord(at: usize, value: u32): void;
@external("memories", "setOwnLong") declare function setOwnLong(at: usize, value: u64): void;
@external("memories", "setOwnVector") declare function setOwnVector(at: usize, value: v128): void;
@external("memories", "copyOut") declare function copyOut(to: usize, from: usize, bytes: usize): void;
@external("memories", "copyOwn") declare function copyOwn(to: usize, from: usize, bytes: usize): void;

// The form of a splice in own memory, see ../layout.ts.
const FORM_ORIGIN: usize = 0;
const FORM_LINKS: usize = 4;
const FORM_GROWTH: usize = 8;
const FORM_URL_BYTES: usize = 12;
const FORM_BASE_BYTES: usize = 16;
const FORM_DIGIT: usize = 20;
const FORM_END_BYTES: usize = 24;
const FORM_BASE: usize = 64;
const FORM_END: usize = 576;
const NEEDLE: usize = 1024;

const KEPT: u32 = 0xffffffff;
const NONE: usize = 0xffffffff;
/** "/api/v3/" */
const STORED_API: u64 = 0x2f33762f6970612f;
/** "/?format" and "=api" */
const STORED_END: u64 = 0x74616d726f663f2f;
const STORED_END_REST: u32 = 0x6970613d;
const STORED_END_BYTES: usize = 12;
const API_BYTES: usize = 8;
const DIGIT_AT: usize = 6;
const QUOTE: u32 = 0x22;
const SLASH: u32 = 0x2f;
const BACKSLASH: u32 = 0x5c;
const ZERO: u32 = 0x30;

/** From this length on, the engine's own copy is faster than a loop. */
const LONG_COPY: usize = 512;

export function copy(to: usize, from: usize, bytes: usize): void {
  copyOut(to, from, bytes);
}

export function gather(list: usize, count: u32, start: usize): usize {
  let to = start;
  const end = list + ((count as usize) << 3);
  for (let at = list; at < end; at += 8) {
    const bytes = ownWord(at + 4) as usize;
    copyOut(to, ownWord(at) as usize, bytes);
    to += bytes;
  }
  return to;
}

/** Copies source bytes in steps of 16, if at least 15 more bytes follow them before `limit`. */
@inline
function put(to: usize, from: usize, bytes: usize, limit: usize): void {
  if (bytes >= LONG_COPY || from + bytes + 15 > limit) {
    copyOut(to, from, bytes);
    return;
  }
  for (let i: usize = 0; i < bytes; i += 16) setOwnVector(to + i, v128.load(from + i));
}

@inline
function putOwn(to: usize, from: usize, bytes: usize): void {
  for (let i: usize = 0; i < bytes; i += 16) setOwnVector(to + i, ownVector(from + i));
}

@inline
function isStoredApi(path: usize, end: usize): bool {
  return path + API_BYTES <= end && load<u64>(path) == STORED_API;
}

/**
 * The start of `/?format=api` in the own URL whose path starts at `path`, with `/api/v3/`; NONE if the URL is not a
 * link.
 */
function linkEndAt(path: usize, end: usize): usize {
  const name = path + API_BYTES;
  let at = name;
  while (at < end) {
    const byte = load<u8>(at) as u32;
    if (byte == SLASH || byte == QUOTE || byte == BACKSLASH) break;
    at++;
  }
  if (at == name || at >= end || (load<u8>(at) as u32) != SLASH) return NONE;
  const id = ++at;
  while (at < end && (load<u8>(at) as u32) - ZERO < 10) at++;
  if (at == id || at + STORED_END_BYTES >= end) return NONE;
  const isWhole =
    load<u64>(at) == STORED_END &&
    load<u32>(at, 8) == STORED_END_REST &&
    (load<u8>(at, STORED_END_BYTES) as u32) == QUOTE;
  return isWhole ? at : NONE;
}

export function patch(start: usize, end: usize, first: u32, last: u32, to: usize): usize {
  copyOut(to, start, end - start);
  const digit = ownWord(FORM_DIGIT);
  const growth = ownWord(FORM_GROWTH);
  const links = ownWord(FORM_LINKS) as usize;
  const limit = to + (end - start);
  let path = to - start + (ownWord(FORM_ORIGIN) as usize) + (ownWord(FORM_URL_BYTES) as usize) + (growth * first) as usize;
  for (let n = first; n < last; n++) {
    const at = path + (position(links + ((n as usize) << 2)) as usize);
    if (at + API_BYTES <= limit && ownLong(at) == STORED_API) setOwnByte(at + DIGIT_AT, digit);
    path += growth as usize;
  }
  return limit;
}

export function splice(start: usize, end: usize, first: u32, last: u32, target: usize): usize {
  const links = ownWord(FORM_LINKS) as usize;
  const growth = ownWord(FORM_GROWTH);
  const urlBytes = ownWord(FORM_URL_BYTES) as usize;
  const baseBytes = ownWord(FORM_BASE_BYTES);
  const digit = ownWord(FORM_DIGIT);
  const endBytes = ownWord(FORM_END_BYTES);
  let origin = (ownWord(FORM_ORIGIN) as usize) + (growth * first) as usize;
  let to = target;
  let from = start;
  for (let n = first; n < last; n++) {
    const url = origin + (position(links + ((n as usize) << 2)) as usize);
    const path = url + urlBytes;
    origin += growth as usize;
    if (baseBytes != KEPT) {
      put(to, from, url - from, end);
      to += url - from;
      putOwn(to, FORM_BASE, baseBytes as usize);
      to += baseBytes as usize;
      from = path;
    }
    if (!isStoredApi(path, end)) continue;
    if (digit != 0) {
      put(to, from, path - from, end);
      to += path - from;
      setOwnLong(to, STORED_API);
      setOwnByte(to + DIGIT_AT, digit);
      to += API_BYTES;
      from = path + API_BYTES;
    }
    if (endBytes == KEPT) continue;
    const tail = linkEndAt(path, end);
    if (tail == NONE) continue;
    put(to, from, tail - from, end);
    to += tail - from;
    putOwn(to, FORM_END, endBytes as usize);
    to += endBytes as usize;
    from = tail + STORED_END_BYTES;
  }
  copyOut(to, from, end - from);
  return to + (end - from);
}

export function countLinkEnds(start: usize, end: usize, first: u32, last: u32): u32 {
  const links = ownWord(FORM_LINKS) as usize;
  const growth = ownWord(FORM_GROWTH);
  let origin = (ownWord(FORM_ORIGIN) as usize) + (ownWord(FORM_URL_BYTES) as usize) + (growth * first) as usize;
  let count: u32 = 0;
  for (let n = first; n < last; n++) {
    const path = origin + (position(links + ((n as usize) << 2)) as usize);
    origin += growth as usize;
    if (isStoredApi(path, end) && linkEndAt(path, end) != NONE) count++;
  }
  return count;
}

@inline
function isNeedleAt(at: usize, bytes: usize): bool {
  let i: usize = 0;
  for (; i + 8 <= bytes; i += 8) if (load<u64>(at + i) != ownLong(NEEDLE + i)) return false;
  for (; i < bytes; i++) if ((load<u8>(at + i) as u32) != ownByte(NEEDLE + i)) return false;
  return true;
}

/**
 * Compares the first and last byte of the needle at 16 positions at once (Mula, SIMD-friendly algorithms for substring
 * searching).
 */
export function indexOf(start: usize, end: usize, bytes: usize): usize {
  if (start + bytes > end) return NONE;
  const first = i8x16.splat(ownByte(NEEDLE) as i8);
  const last = i8x16.splat(ownByte(NEEDLE + bytes - 1) as i8);
  const tail = bytes - 1;
  // The last position at which the needle may start.
  const stop = end - bytes;
  let at = start;
  for (; at + tail + 32 <= end; at += 32) {
    const low = v128.and(i8x16.eq(v128.load(at), first), i8x16.eq(v128.load(at + tail), last));
    const high = v128.and(i8x16.eq(v128.load(at, 16), first), i8x16.eq(v128.load(at + tail, 16), last));
    if (!v128.any_true(v128.or(low, high))) continue;
    let mask = (i8x16.bitmask(low) as u32) | ((i8x16.bitmask(high) as u32) << 16);
    for (; mask != 0; mask &= mask - 1) {
      const place = at + (ctz(mask) as usize);
      if (isNeedleAt(place, bytes)) return place;
    }
  }
  for (; at <= stop; at++) if (isNeedleAt(at, bytes)) return at;
  return NONE;
}

/** The number of bits in 64 bytes. Four byte counts, at most 32 in all, are added before they are widened. */
@inline
function bitsOfBlock(a: v128, b: v128, c: v128, d: v128): u32 {
  const counts = i8x16.add(
    i8x16.add(i8x16.popcnt(a), i8x16.popcnt(b)),
    i8x16.add(i8x16.popcnt(c), i8x16.popcnt(d)),
  );
  const sums = i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(counts));
  return (
    (i32x4.extract_lane(sums, 0) as u32) +
    (i32x4.extract_lane(sums, 1) as u32) +
    (i32x4.extract_lane(sums, 2) as u32) +
    (i32x4.extract_lane(sums, 3) as u32)
  );
}

export function rank(words: usize, bytes: usize, ranks: usize): u32 {
  let count: u32 = 0;
  let directory = ranks;
  let at = words;
  const end = words + bytes;
  for (; at + 64 <= end; at += 64) {
    setOwnWord(directory, count);
    directory += 4;
    count += bitsOfBlock(ownVector(at), ownVector(at + 16), ownVector(at + 32), ownVector(at + 48));
  }
  if (at < end) {
    setOwnWord(directory, count);
    directory += 4;
    for (; at < end; at += 8) count += popcnt(ownLong(at)) as u32;
  }
  setOwnWord(directory, count);
  return count;
}

export function and(target: usize, other: usize, bytes: usize): void {
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16) {
    setOwnVector(target + i, v128.and(ownVector(target + i), ownVector(other + i)));
  }
  for (; i < bytes; i += 8) setOwnLong(target + i, ownLong(target + i) & ownLong(other + i));
}
