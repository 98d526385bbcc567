// A snapshot in shared memory as it is handed from thread to thread, and the views of its sections. Knows no record and
// no index, so that whoever only hands it on reads nothing of them.
import type { Unsigned } from '../bits/narrow.ts';
import type { Section } from './directory.ts';

/**
 * Where a section lies: `memories[memory]`, from `offset`, `bytes` long. Record bytes may be longer than in the file.
 */
export interface Placement {
  readonly memory: number;
  readonly offset: number;
  readonly bytes: number;
}

/**
 * A snapshot in shared memory, as plain data that threads can be sent: the memories are shared, the rest is copied.
 * `placements` has one entry for each of `sections`. The own URLs in record bytes start with `baseUrl`.
 */
export interface LoadedSnapshot {
  readonly memories: readonly WebAssembly.Memory[];
  readonly sections: readonly Section[];
  readonly placements: readonly Placement[];
  readonly generation: string;
  readonly created: string | undefined;
  readonly baseUrl: string;
}

/**
 * Finds typed-array views of sections by name, and the memory that one lies in; absent sections are empty. `unsigned`
 * has the section's own width.
 */
export interface Sections {
  bytes(name: string): Uint8Array;
  u32(name: string): Uint32Array;
  unsigned(name: string): Unsigned;
  f64(name: string): Float64Array;
  memory(name: string): WebAssembly.Memory;
  has(name: string): boolean;
}

/** Views of the sections of a loaded snapshot. */
export function sectionsOf(loaded: LoadedSnapshot): Sections {
  const places = new Map(loaded.sections.map(({ name, width }, i) => [name, { width, ...loaded.placements[i]! }]));
  const buffers = loaded.memories.map((memory) => memory.buffer);
  return {
    has: (name) => places.has(name),
    memory: (name) => loaded.memories[places.get(name)?.memory ?? 0]!,
    bytes: (name) => {
      const place = places.get(name);
      return place ? new Uint8Array(buffers[place.memory]!, place.offset, place.bytes) : new Uint8Array(0);
    },
    u32: (name) => {
      const place = places.get(name);
      return place ? new Uint32Array(buffers[place.memory]!, place.offset, place.bytes / 4) : new Uint32Array(0);
    },
    unsigned: (name) => {
      const place = places.get(name);
      if (!place) return new Uint8Array(0);
      const { memory, offset, bytes, width } = place;
      const buffer = buffers[memory]!;
      if (width === 1) return new Uint8Array(buffer, offset, bytes);
      return width === 2 ? new Uint16Array(buffer, offset, bytes / 2) : new Uint32Array(buffer, offset, bytes / 4);
    },
    f64: (name) => {
      const place = places.get(name);
      return place ? new Float64Array(buffers[place.memory]!, place.offset, place.bytes / 8) : new Float64Array(0);
    },
  };
}
