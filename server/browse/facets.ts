// The counts of a list by the values of its fields with a few values:
// each a filter that one click adds or takes away.
import { countText } from '../observe/quantities.ts';
import { fromStart, type Pair, queryOf, withValue } from './address.ts';
import type { Listing } from './listing.ts';
import { html, type Markup } from './template.ts';

/** Facets of a page: as many as one request may have. */
export const FACETS_SHOWN_MAX = 10;
/** Values that are seen at once; the others are a click away. */
const VALUES_OPEN = 8;

/** A panel a field. */
export function facetPanels({ hits, pairs }: Listing): readonly Markup[] {
  return hits.facets
    .filter(({ values }) => values.length > 0)
    .map(({ name, values }) => {
      const items = values.map(([text, count]) => choice(pairs, name, text, count));
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
        <h2>${name.split('__').join(' › ')}</h2>
        <ul>
          ${shown}
        </ul>
        ${rest}
      </section>`;
    });
}

function choice(pairs: readonly Pair[], name: string, value: string, count: number): Markup {
  const [key, wanted] = value === NONE ? [`${name}__isnull`, 'true'] : [name, value];
  const label = value === NONE ? 'none' : value === '' ? 'empty' : value;
  const isChosen = pairs.some(([each, given]) => each === key && given === wanted);
  const href = queryOf(
    isChosen ? fromStart(withValue(pairs, key, undefined)) : fromStart(withValue(pairs, key, wanted)),
  );
  const current = isChosen && html` aria-current="true"`;
  return html`<li>
    <a href="${href}" ${current}><bdi>${label}</bdi></a> <span class="count">${countText(count)}</span>
  </li>`;
}

/** What a facet calls records without a value; so it does those whose value is this very text. */
const NONE = 'null';
