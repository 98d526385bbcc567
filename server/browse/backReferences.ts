// Who refers to a record: for each field of any collection that leads to its kind how many do, as a link to the list of
// them. Counted along the engine's one way of a list, by posting lists; no related record is read.
import { countText } from '../observe/quantities.ts';
import { type Collection, COLLECTIONS, percentEncode } from '../../engine/engine.ts';
import { distantReferences, type Reference, referencesFrom } from '../../engine/described.ts';
import { foundList } from './find.ts';
import type { Site, Tour } from './site.ts';
import { html, type Markup } from './template.ts';

/** Ways to a record that are countText: each is a list of its own. */
const REFERENCES_MAX = 24;

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

/** The references to a record, none where nobody refers to it. Cost: a count a way. */
export async function backReferences(
  site: Site,
  tour: Tour,
  { name }: Collection,
  id: number,
): Promise<Markup | false> {
  const lines: Markup[] = [];
  for (const { collection, key } of referencesTo(site, name)) {
    const query = `${percentEncode(key)}=${id}&limit=1`;
    const found = await foundList(site, tour, site.collections(collection), query);
    if (found.kind !== 'found' || found.hits.count === 0) continue;
    const { title } = site.collections(collection).declaration;
    const href = `${tour.up}browse/${collection}/?${percentEncode(key)}=${id}`;
    lines.push(
      html`<li>
        <div><a href="${href}">${title}</a> <span class="count">${countText(found.hits.count)}</span></div>
        <small>${key.split('__').join(' › ')}</small>
      </li>`,
    );
  }
  if (lines.length === 0) return false;
  return html`<section class="references">
    <h2>Referred to by</h2>
    <ul>
      ${lines}
    </ul>
  </section>`;
}
