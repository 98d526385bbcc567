// A snapshot in shared memory as it is handed from thread to thread, and the views of its sections. Knows no record and
// no index, so that whoever only hands it on reads nothing of them.
import type { Section, Width } from './directory.ts';
import {
  ELEMENTS,
  type SectionArray,
  type SectionGroup,
  type SectionKind,
  sectionName,
  type SectionViews,
} from './sections.ts';

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
 * Finds the sections of a group by their path: typed-array views, and whether the group is there. Absent sections are
 * empty, optional ones undefined. `memory` is the one that a view lies in; the first for views of nothing.
 */
export interface Sections {
  has(group: SectionGroup, path: string): boolean;
  views<G extends SectionGroup>(group: G, path: string): SectionViews<G>;
  memory(view: SectionArray): WebAssembly.Memory;
}

const ARRAYS: Readonly<Record<Width, new (buffer: ArrayBufferLike, offset?: number, length?: number) => SectionArray>> =
  { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: Float64Array };

/** The elements of a section that lies in a buffer, `width` bytes each; the offset is a multiple of that. */
export function elementsIn(buffer: ArrayBufferLike, width: Width, offset: number, bytes: number): SectionArray {
  return new ARRAYS[width](buffer, offset, bytes / width);
}

export function sectionsOf(loaded: LoadedSnapshot): Sections {
  const { memories, placements } = loaded;
  const indexes = new Map<string, number>();
  loaded.sections.forEach(({ name }, i) => indexes.set(name, i));
  const buffers = memories.map((memory) => memory.buffer);
  const view = (name: string, { element, isOptional }: SectionKind): SectionArray | undefined => {
    const i = indexes.get(name);
    const width = element === 'narrow' ? (i === undefined ? 1 : loaded.sections[i]!.width) : ELEMENTS[element][0];
    if (i === undefined) return isOptional ? undefined : elementsIn(new ArrayBuffer(0), width, 0, 0);
    const { memory, offset, bytes } = placements[i]!;
    return elementsIn(buffers[memory]!, width, offset, bytes);
  };
  return {
    has: (group, path) => {
      for (const key in group.kinds) if (!indexes.has(sectionName(group, key, path))) return false;
      return true;
    },
    memory: ({ buffer }) => memories[Math.max(0, buffers.indexOf(buffer as SharedArrayBuffer))]!,
    views: <G extends SectionGroup>(group: G, path: string) => {
      const views: Record<string, SectionArray | undefined> = {};
      for (const key in group.kinds) views[key] = view(sectionName(group, key, path), group.kinds[key]!);
      // The arrays are those that the elements of the group's kinds ask for.
      return views as SectionViews<G>;
    },
  };
}
