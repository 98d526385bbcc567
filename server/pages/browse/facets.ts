// The counts of a list by the values of its fields with a few values:
// each a filter that one click adds or takes away.
import { countText } from '../../observe/quantities.ts';
import { fromStart, plainKey, queryTextOf, withoutNames } from './address.ts';
import type { Listing } from './listing.ts';
import { html, type Markup } from './template.ts';
import { cut } from './values.ts';

type FacetCounts = Listing['hits']['facets'][number];

/** Facets of a page: as many as one request may have. */
export const FACETS_SHOWN_MAX = 10;
/** Values that are seen at once; the others are a click away, up to a number beyond any enumeration. */
const VALUES_OPEN = 8;
const VALUES_MAX = 32;
/** Longer values are shown by their beginning, and are no filter of one click. */
const VALUE_CHARACTERS_MAX = 128;

/** A panel a field. Cost: its values, and the query once. */
export function facetPanels(listing: Listing): readonly Markup[] {
  return listing.hits.facets
    .filter(({ values }) => values.length > 0)
    .map((facet) => {
      const items = choicesOf(listing, facet);
      const more = items.length > VALUES_OPEN + 1 ? items.slice(VALUES_OPEN) : [];
      const shown = items.slice(0, items.length - more.length);
      const rest =
        more.length > 0 &&
        html`<details>
          <summary>${more.length} more</summary>
          <ul>
            ${more}
          </ul>
        </details>`;
      return html`<section class="facet">
        <h2>${facet.name.split('__').join(' › ')}</h2>
        <ul>
          ${shown}
        </ul>
        ${rest}
      </section>`;
    });
}

/** The values of a field, each instead of any other one of it; those that would find other records are no links. */
function choicesOf(listing: Listing, { name, values }: FacetCounts): readonly Markup[] {
  const { pairs, hasChoices } = listing;
  const isNarrowed = isOfSeveral(listing, name) && pairs.some(([key]) => isOnSame(key, name));
  const isNull = `${name}__isnull`;
  const plain = plainKey(name);
  const others = hasChoices ? queryTextOf(fromStart(withoutNames(pairs, plain, isNull))) : '';
  return values.slice(0, VALUES_MAX).map(([value, count]) => {
    const [key, wanted] = value === NONE ? [isNull, 'true'] : [plain, value];
    const label = value === NONE ? 'none' : value === '' ? 'empty' : cut(value, VALUE_CHARACTERS_MAX);
    const isChosen = pairs.some(([each, given]) => each === key && given === wanted);
    const choice = isChosen ? [] : [queryTextOf([[key, wanted]])];
    const href = `?${[others, ...choice].filter(Boolean).join('&')}`;
    const current = isChosen && html` aria-current="true"`;
    const isLink = hasChoices && (isChosen || !isNarrowed) && value.length <= VALUE_CHARACTERS_MAX && isAskable(value);
    return html`<li>
      ${isLink ? html`<a href="${href}" ${current}><bdi>${label}</bdi></a>` : html`<bdi>${label}</bdi>`}
      <span class="count">${countText(count)}</span>
    </li>`;
  });
}

/** Whether a record may have several values of a field. */
function isOfSeveral({ fields }: Listing, name: string): boolean {
  return fields.find(({ key }) => key === name)?.isOrdered !== true;
}

/** Whether a filter wants one related record, or one value, to be so and so, as others of its relation do (A45). */
function isOnSame(key: string, name: string): boolean {
  const rootOf = (path: string): string => path.split('__', 1)[0]!;
  return rootOf(key) === rootOf(name) && !key.endsWith('!');
}

/** Whether a filter can name a value: the API trims texts, and takes none with NUL. */
function isAskable(value: string): boolean {
  return value === value.trim() && !value.includes('\0');
}

/** What a facet calls records without a value; so it does those whose value is this very text. */
const NONE = 'null';
