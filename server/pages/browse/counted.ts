// Links to lists with the number of their records: those that refer to a record, and those of related data.
import { COLLECTIONS, percentEncode } from '../../../engine/engine.ts';
import {
  collectionLabel,
  distantReferences,
  fieldLabel,
  type Reference,
  referencesFrom,
} from '../../../engine/described.ts';
import { countText } from '../../observe/quantities.ts';
import { foundList } from './find.ts';
import { memoize, type Site, type Tour } from './site.ts';
import { html, type Markup } from './template.ts';

/** Linking fields whose references to a record are counted. Each takes a separate list query. */
const REFERENCES_MAX = 24;
/** List queries of one page that run at the same time. More of them would keep other clients out of the pool. */
const ASKED_AT_ONCE = 6;

/** A link to a list. */
export interface ListLink {
  readonly collection: string;
  /** Encoded. */
  readonly query: string;
  readonly label: string;
  readonly note?: string;
  /** A list with fewer records is not shown. */
  readonly countMin: number;
}

/** A list link with its count. */
interface CountedLink extends ListLink {
  readonly count: number | 'missed';
}

/**
 * Counts lists, and omits those with too few records and those whose parameters have no effect under these settings. A
 * list that could not be counted now has `missed` as its count. Cost: a count for each.
 */
export async function countLinks(site: Site, tour: Tour, links: readonly ListLink[]): Promise<readonly CountedLink[]> {
  const counted: CountedLink[] = [];
  for (let start = 0; start < links.length; start += ASKED_AT_ONCE) {
    const together = links.slice(start, start + ASKED_AT_ONCE);
    const counts = await Promise.all(together.map((link) => countLink(site, tour, link)));
    counted.push(...together.map((link, i) => ({ ...link, count: counts[i]! })));
  }
  return counted.filter(({ count, countMin }) => count === 'missed' || count >= countMin);
}

async function countLink(site: Site, tour: Tour, { collection, query }: ListLink): Promise<'missed' | number> {
  const found = await foundList(site, tour, site.collections(collection), `${query}&limit=1`);
  if (found.kind === 'missed') return found.kind;
  // A name without effect would leave records in that the link does not promise.
  return found.kind === 'refused' || found.list.ask.ignored.length > 0 ? 0 : found.hits.count;
}

/** The links with `countMin` of `least`; false without one. */
export function linkSection(
  { up }: Tour,
  heading: string,
  links: readonly CountedLink[],
  least: number,
): Markup | false {
  const shown = links.filter(({ countMin }) => countMin === least);
  const lines = shown.map(
    ({ collection, query, label, note, count }) =>
      html`<li>
        <div>
          <a href="${up}browse/${collection}/?${query}" rel="nofollow"><bdi>${label}</bdi></a>
          <span class="count">${count === 'missed' ? 'not counted now' : countText(count)}</span>
        </div>
        ${note !== undefined && html`<small>${note}</small>`}
      </li> `,
  );
  return (
    lines.length > 0 &&
    html`<section class="references">
      <h2>${heading}</h2>
      <ul>
        ${lines}
      </ul>
    </section>`
  );
}

/** The fields that link to each collection. Cost: all fields of the catalogue. */
const collectReferences = memoize((collections: Site['collections']): ReadonlyMap<string, readonly Reference[]> => {
  const found = new Map<string, readonly Reference[]>();
  for (const { name } of COLLECTIONS) {
    for (const [to, references] of referencesFrom(collections(name))) {
      found.set(to, [...(found.get(to) ?? []), ...references]);
    }
  }
  return found;
});

/** The lists of records that refer to a record. */
export function referenceLinks({ collections }: Site, name: string, id: number): readonly ListLink[] {
  const all = collectReferences(collections).get(name) ?? [];
  const references = [...distantReferences(name), ...all].slice(0, REFERENCES_MAX);
  return references.map(({ collection, key, kind }) => ({
    collection,
    query: `${percentEncode(key)}=${id}${kind ? `&${percentEncode(kind.key)}=${percentEncode(kind.value)}` : ''}`,
    label: collectionLabel(collection),
    note: fieldLabel(collection, key),
    countMin: 1,
  }));
}
