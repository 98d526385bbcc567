// Whether a run of records is what its sections say: records whole and in order, own URLs in their places, then the
// members (verifyMembers.ts). Slow and thorough, for `verify` only; yields the first thing found wrong.
import { hasPrefix } from '../bits/bytes.ts';
import { PLACEHOLDER } from '../column/records.ts';
import type { Refusal } from './header.ts';
import type { Sections } from './loaded.ts';
import { misplacedLink } from './rebase.ts';
import { RECORDS, sectionNames, type SectionViews } from './sections.ts';
import { refusalIn, verifyForm } from './verifyForm.ts';
import { verifyMembers, type OutlineCheck } from './verifyMembers.ts';

const PLACEHOLDER_BYTES = new TextEncoder().encode(PLACEHOLDER);
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** What was looked at in a run. */
export interface RunTally {
  readonly records: number;
  readonly links: number;
}

/** Checks one run, loaded with the placeholder as base URL. Cost: two passes over its bytes. */
export function* verifyRun(sections: Sections, path: string, outlines: OutlineCheck): Generator<Refusal, RunTally> {
  const run = yield* verifyForm(sections, RECORDS, path);
  const names = sectionNames(RECORDS, path);
  const { bytes, ends, links } = run;
  const unended = firstUnended(bytes, ends);
  if (unended >= 0)
    yield refusalIn(names.bytes, `record ${unended} does not run from { to }`, '{, }, and a comma behind it');
  const misfit = misplacedLink(links, bytes.length);
  if (misfit) yield { refusal: `section ${names.links}: ${misfit.refusal}` };
  const wrong = links.findIndex((at) => bytes[at - 1] !== QUOTE || !hasPrefix(bytes, PLACEHOLDER_BYTES, at));
  if (wrong >= 0) yield refusalIn(names.links, `no own URL at ${links[wrong]}`, `"${PLACEHOLDER}`);
  const stray = firstStrayLink(run);
  if (stray >= 0) yield refusalIn(names.linkEnds, `record ${stray} with own URLs outside it`, 'each in its record');
  yield* verifyMembers(run, names, outlines);
  return { records: ends.length, links: links.length };
}

function firstUnended(bytes: Uint8Array, ends: Uint32Array): number {
  let start = 0;
  for (let row = 0; row < ends.length; row++) {
    const end = ends[row]!;
    const isWhole = end - start >= 3 && bytes[start] === OPEN_BRACE && bytes[end - 2] === CLOSE_BRACE;
    if (!isWhole || bytes[end - 1] !== COMMA) return row;
    start = end;
  }
  return -1;
}

/** Links ascend, so that only the first and the last of a record can lie outside it. */
function firstStrayLink({ ends, links, linkEnds }: SectionViews<typeof RECORDS>): number {
  let start = 0;
  let link = 0;
  for (let row = 0; row < ends.length; row++) {
    const end = linkEnds[row]!;
    if (end > link && (links[link]! < start || links[end - 1]! >= ends[row]!)) return row;
    start = ends[row]!;
    link = end;
  }
  return -1;
}
