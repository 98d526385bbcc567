// A snapshot in shared memory in the form that threads exchange, and the views of its sections. Imports neither records
// nor indexes, so that code which only passes a snapshot on does not load them.
import type { Section, Width } from './directory.ts';
import {
  ELEMENTS,
  type SectionArray,
  type SectionGroup,
  type SectionKind,
  sectionName,
  type SectionViews,
} from './sections.ts';

/** Digits by which headers, links and logs name a generation: two of one catalogue never share them. */
export const GENERATION_DIGITS = 12;

/** The memory of a section. */
export interface Placement {
  /** Index in `memories`. */
  readonly memory: number;
  readonly offset: number;
  /** Record bytes may be longer than in the file. */
  readonly bytes: number;
}

/**
 * A snapshot in shared memory, as plain data that can be sent to threads. The memories are shared, the rest is copied.
 */
export interface LoadedSnapshot {
  readonly memories: readonly WebAssembly.Memory[];
  readonly sections: readonly Section[];
  /** One entry for each of `sections`. */
  readonly placements: readonly Placement[];
  readonly generation: string;
  readonly created: string | undefined;
  /** The start of the own URLs in the record bytes. */
  readonly baseUrl: string;
}

/** The sections of a snapshot. */
export interface Sections {
  /** Whether the snapshot has all sections of a group at this path. */
  has(group: SectionGroup, path: string): boolean;
  /** Typed-array views of the sections of a group. Absent sections are empty, absent optional sections undefined. */
  views<G extends SectionGroup>(group: G, path: string): SectionViews<G>;
  /** The memory of a view; the first memory for a view of an absent section. */
  memory(view: SectionArray): WebAssembly.Memory;
}

const ARRAYS: Readonly<Record<Width, new (buffer: ArrayBufferLike, offset?: number, length?: number) => SectionArray>> =
  { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: Float64Array };

/** A view of a section in a buffer, with `width` bytes per element. `offset` is a multiple of `width`. */
export function viewElements(buffer: ArrayBufferLike, width: Width, offset: number, bytes: number): SectionArray {
  return new ARRAYS[width](buffer, offset, bytes / width);
}

export function openSections(loaded: LoadedSnapshot): Sections {
  const { memories, placements } = loaded;
  const indexes = new Map<string, number>();
  loaded.sections.forEach(({ name }, i) => indexes.set(name, i));
  const buffers = memories.map((memory) => memory.buffer);
  const view = (name: string, { element, isOptional }: SectionKind): SectionArray | undefined => {
    const i = indexes.get(name);
    const width = element === 'narrow' ? (i === undefined ? 1 : loaded.sections[i]!.width) : ELEMENTS[element][0];
    if (i === undefined) return isOptional ? undefined : viewElements(new ArrayBuffer(0), width, 0, 0);
    const { memory, offset, bytes } = placements[i]!;
    return viewElements(buffers[memory]!, width, offset, bytes);
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
      // The element kinds of the group determine the array types.
      return views as SectionViews<G>;
    },
  };
}
