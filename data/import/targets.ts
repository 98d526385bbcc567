// The sections that say where links point, written once the ids of all collections are known. Knows ids only, no
// record.
import { DANGLING, targetsOf } from '../../engine/index/join.ts';
import { paddedBytes } from '../../engine/snapshot/header.ts';
import { filterName } from '../../engine/schema/layout.ts';
import { TARGETS } from '../../engine/snapshot/sections.ts';
import type { SnapshotWriter } from '../../engine/snapshot/write.ts';
import type { BuiltCollection } from './built.ts';

/**
 * What the links of one collection lead to: how many lead to no record, the first of them (`validTimePeriod to
 * times/4`), and the bytes of their sections.
 */
export interface LinkCounts {
  readonly dangling: number;
  readonly firstDangling: string | undefined;
  readonly bytes: number;
}

/**
 * Writes the targets of every link column; answers counts by collection. `built` has all collections by name, in the
 * order of the root view. Cost: a merge of each column's ids with those they link to.
 */
export function writeTargets(
  writer: SnapshotWriter,
  built: ReadonlyMap<string, BuiltCollection>,
): ReadonlyMap<string, LinkCounts> {
  const counts = new Map<string, LinkCounts>();
  for (const [name, { targets: links }] of built) {
    let dangling = 0;
    let firstDangling: string | undefined;
    let bytes = 0;
    for (const link of links) {
      const targets = targetsOf(link.ids, built.get(link.to)!.ids);
      writer.add(TARGETS, link.path, { targets });
      bytes += paddedBytes(targets.byteLength);
      for (let code = 0; code < targets.length; code++) {
        if (targets[code] !== DANGLING || Number.isNaN(link.ids[code])) continue;
        dangling += link.counts[code]!;
        firstDangling ??= `${filterName(link)} to ${link.to}/${link.ids[code]}`;
      }
    }
    counts.set(name, { dangling, firstDangling, bytes });
  }
  return counts;
}
