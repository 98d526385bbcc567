// What changed between two catalogues, record by record: a merge of their ids. Pure, on ids and digests; reads no
// record.
import { compareBytes } from '../../engine/bits/bytes.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { type CatalogueDigests, digestAt, type RecordDigests } from './digests.ts';

/** One record that differs: created where `before` is null, deleted where `after` is, else changed. */
export interface RecordChange {
  readonly collection: string;
  readonly id: number;
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
}

/** What can happen to a record. */
export const CHANGE_KINDS = ['created', 'changed', 'deleted'] as const;

/** One of them. */
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** What happened to a record. */
export function kindOf({ before, after }: Pick<RecordChange, 'before' | 'after'>): ChangeKind {
  if (before === null) return 'created';
  return after === null ? 'deleted' : 'changed';
}

const NOTHING: RecordDigests = { ids: new Float64Array(0), digests: new Uint8Array(0) };

/** The records that differ, by collection in the order of the root view and by id. Cost: a step a record. */
export function* changesBetween(before: CatalogueDigests, after: CatalogueDigests): Generator<RecordChange> {
  for (const { name } of COLLECTIONS) yield* changesIn(name, before.get(name) ?? NOTHING, after.get(name) ?? NOTHING);
}

function* changesIn(collection: string, old: RecordDigests, young: RecordDigests): Generator<RecordChange> {
  let [i, k] = [0, 0];
  while (i < old.ids.length || k < young.ids.length) {
    const [oldId, youngId] = [old.ids[i] ?? Infinity, young.ids[k] ?? Infinity];
    const id = Math.min(oldId, youngId);
    const before = oldId === id ? digestAt(old.digests, i++) : null;
    const after = youngId === id ? digestAt(young.digests, k++) : null;
    if (before && after && compareBytes(before, after) === 0) continue;
    yield { collection, id, before, after };
  }
}
