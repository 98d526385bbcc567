// Who refers to a record: for each field of any collection that leads to its kind how many do, as a link to the list of
// them. Counted along the engine's one way of a list, by posting lists; no related record is read.
import { countText } from '../../observe/quantities.ts';
import { type Collection, COLLECTIONS, percentEncode } from '../../../engine/engine.ts';
import { distantReferences, type Reference, referencesFrom } from '../../../engine/described.ts';
import { foundList } from './find.ts';
import type { Site, Tour } from './site.ts';
import { html, type Markup } from './template.ts';

/** Ways to a record that are counted: each is a list of its own. */
const REFERENCES_MAX = 24;
/** Of these so many are found at once: more of one visitor would crowd the others out of the pool. */
const ASKED_AT_ONCE = 6;

/** Who refers to a record; `isWhole` is false where some way to it could not be counted now. */
export interface BackReferences {
  readonly shown: Markup | false;
  readonly isWhole: boolean;
}

/** By the collections of a generation: they do not change. */
const known = new WeakMap<Site['collections'], ReadonlyMap<string, readonly Reference[]>>();

/** The ways to records of a collection. Cost: all fields of the catalogue, once a generation. */
function referencesTo({ collections }: Site, name: string): readonly Reference[] {
  let all = known.get(collections);
  if (!all) {
    const found = new Map<string, Reference[]>();
    for (const declared of COLLECTIONS) {
      for (const [to, references] of referencesFrom(collections(declared.name))) {
        found.set(to, [...(found.get(to) ?? []), ...references]);
      }
    }
    known.set(collections, (all = found));
  }
  return [...distantReferences(name), ...(all.get(name) ?? [])].slice(0, REFERENCES_MAX);
}

/**
 * The references to a record, none where nobody refers to it. A way that is no filter of the data is left out; one
 * that there was no time to count is shown without a count. Cost: a count a way.
 */
export async function backReferences(
  site: Site,
  tour: Tour,
  { name }: Collection,
  id: number,
): Promise<BackReferences> {
  const references = referencesTo(site, name);
  const counts: ('missed' | number)[] = [];
  for (let start = 0; start < references.length; start += ASKED_AT_ONCE) {
    const together = references.slice(start, start + ASKED_AT_ONCE);
    counts.push(...(await Promise.all(together.map((reference) => countOf(site, tour, reference, id)))));
  }
  const lines = references.flatMap((reference, i) =>
    counts[i] === 0 ? [] : [lineOf(site, tour, reference, { id, count: counts[i]! })],
  );
  return { shown: lines.length > 0 && sectionOf(lines), isWhole: !counts.includes('missed') };
}

/** How many records name a record on a way. */
async function countOf(site: Site, tour: Tour, { collection, key }: Reference, id: number): Promise<'missed' | number> {
  const query = `${percentEncode(key)}=${id}&limit=1`;
  const found = await foundList(site, tour, site.collections(collection), query);
  if (found.kind === 'missed') return found.kind;
  if (found.kind === 'refused') return 0;
  // A name that is no filter here is none of the conditions: all would be counted.
  return found.list.ask.conditions.length === 0 ? 0 : found.hits.count;
}

function lineOf(
  site: Site,
  { up }: Tour,
  { collection, key }: Reference,
  { id, count }: { readonly id: number; readonly count: 'missed' | number },
): Markup {
  const { title } = site.collections(collection).declaration;
  const href = `${up}browse/${collection}/?${percentEncode(key)}=${id}`;
  const counted = count === 'missed' ? 'not counted now' : countText(count);
  return html`<li>
    <div><a href="${href}">${title}</a> <span class="count">${counted}</span></div>
    <small>${key.split('__').join(' › ')}</small>
  </li>`;
}

function sectionOf(lines: readonly Markup[]): Markup {
  return html`<section class="references">
    <h2>Referred to by</h2>
    <ul>
      ${lines}
    </ul>
  </section>`;
}
