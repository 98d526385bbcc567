// The digests of what two snapshot files do not share where one was built of the other: the records that both have are
// known, and neither read nor hashed again. Gives the same changes as the digests of all records.
import { startOfPart } from '../../engine/bits/lists.ts';
import { collectionNamed } from '../../engine/schema/catalogue.ts';
import { DICTIONARY, RECORDS, runPath, sectionName } from '../../engine/snapshot/sections.ts';
import { metadataIn } from '../import/earlier.ts';
import type { KeptRecords } from '../import/import.ts';
import { SectionFile } from '../store/sectionFile.ts';
import { type CatalogueDigests, DigestsDraft, type RecordDigests } from './digests.ts';

/** Neighbouring records are read together up to so many bytes. */
const RUN_BYTES = 256 << 10;

/**
 * The digests of the records in `before` that were not `kept`, and of those in `after` that were not there. Throws
 * OperationError `file`, and `snapshot` for damage anywhere in `after`, as what was carried over was checked by nobody,
 * or in the records of `before` that are read. Cost: a checksum pass over `after`, and over the records of collections
 * that changed in `before`; memory is that of their ids and of what changed, 24 bytes a record.
 */
export function digestsOfChanged(
  before: string,
  after: string,
  kept: KeptRecords,
): readonly [before: CatalogueDigests, after: CatalogueDigests] {
  return withSections(before, (old) =>
    withSections(after, (young) => {
      young.assertWhole(young.sections);
      const inYoung = (name: string): Known => {
        const rows = kept.get(name);
        return rows instanceof Uint8Array ? rowsWithIds(idsIn(young, name), idsIn(old, name), rows) : rows;
      };
      return [digestsLeft(old, (name) => kept.get(name)), digestsLeft(young, inYoung)];
    }),
  );
}

function withSections<T>(file: string, work: (sections: SectionFile) => T): T {
  const sections = new SectionFile(file);
  try {
    return work(sections);
  } finally {
    sections.close();
  }
}

/** The records of a collection that are known to be in both: all, those whose rows are not 0, or none. */
type Known = 'all' | Uint8Array | undefined;

/** Marks the ids that stand among `others` in a row that is marked. Both ascend. */
function rowsWithIds(ids: Float64Array, others: Float64Array, isMarked: Uint8Array): Uint8Array {
  let row = 0;
  return Uint8Array.from(ids, (id) => {
    while (row < others.length && others[row]! < id) row++;
    return others[row] === id ? isMarked[row]! : 0;
  });
}

function idsIn(sections: SectionFile, name: string): Float64Array {
  const { idField } = collectionNamed(name)!;
  return sections.array(DICTIONARY, 'numbers', `${name}/${idField}`) ?? new Float64Array(0);
}

/** The digests of what is not known, by collection. */
function digestsLeft(sections: SectionFile, knownOf: (name: string) => Known): CatalogueDigests {
  const all = new Map<string, RecordDigests>();
  for (const { name, chunks } of metadataIn(sections).collections) {
    const known = knownOf(name);
    if (known === 'all') continue;
    const left = new LeftRecords(sections, idsIn(sections, name), known);
    for (let i = 0; i < chunks; i++) left.addChunk(runPath(RECORDS, name, i));
    all.set(name, left.digests());
  }
  return all;
}

/** The records of a collection that are not known, chunk by chunk. */
class LeftRecords {
  readonly #sections: SectionFile;
  readonly #ids: Float64Array;
  readonly #known: Uint8Array | undefined;
  readonly #draft = new DigestsDraft();
  #row = 0;

  constructor(sections: SectionFile, ids: Float64Array, known: Uint8Array | undefined) {
    this.#sections = sections;
    this.#ids = ids;
    this.#known = known;
  }

  digests(): RecordDigests {
    return this.#draft.finish(this.#sections.file);
  }

  addChunk(path: string): void {
    const ends = this.#sections.array(RECORDS, 'ends', path);
    const bytes = this.#sections.section(sectionName(RECORDS, 'bytes', path))!;
    const first = this.#row;
    this.#row += ends.length;
    const isLeft = (k: number): boolean => this.#known?.[first + k] !== 1;
    for (let k = 0; k < ends.length; k++) {
      if (!isLeft(k)) continue;
      this.#sections.assertWhole([bytes]);
      const [start, begin] = [startOfPart(ends, k), k];
      while (k + 1 < ends.length && isLeft(k + 1) && ends[k + 1]! - start <= RUN_BYTES) k++;
      const run = new Uint8Array(ends[k]! - start);
      this.#sections.read(bytes, start, run);
      // Behind each stands a comma.
      for (let n = begin; n <= k; n++)
        this.#draft.add(this.#ids[first + n]!, run.subarray(startOfPart(ends, n) - start, ends[n]! - start - 1));
    }
  }
}
