// The way through the pages of a list: first, previous, next, last, a jump to any position or to the record of an id,
// and the size of a page. Pure.
import { countText } from '../../observe/quantities.ts';
import { fromStart, type Pair, queryOf, withValue } from './address.ts';
import { pageRowsMax } from './find.ts';
import { FORM_NAMES, hiddenInputs } from './filterForm.ts';
import type { Listing } from './listing.ts';
import { html, type Markup } from './template.ts';

/** Records of a page that are offered, beside the most that one may have. */
const SIZES = [10, 25, 50];

/** Which records of the list are shown. */
export function rangeOf({ ask: { page }, hits }: Listing): Markup | false {
  if (hits.count === 0) return false;
  const first = hits.offset + 1;
  const last = Math.min(hits.count, hits.offset + page.limit);
  if (first > hits.count) return html`<p class="range">Behind the last of ${countText(hits.count)} records.</p>`;
  return html`<p class="range">${countText(first)} to ${countText(last)} of ${countText(hits.count)}</p>`;
}

/** Links to the other pages, and forms for any other. */
export function pageLinksNav(listing: Listing): Markup | false {
  const { ask, hits, pairs, hasChoices } = listing;
  const { limit } = ask.page;
  if (hits.count === 0) return false;
  const last = Math.max(0, Math.floor((hits.count - 1) / limit) * limit);
  const { offset } = hits;
  const at = (place: number): string => queryOf(placed(pairs, place));
  const link = (label: string, place: number, isThere: boolean, rel?: string): Markup =>
    isThere
      ? html`<li><a href="${at(place)}" ${rel !== undefined && html` rel="${rel}"`}>${label}</a></li>`
      : html`<li><span aria-disabled="true">${label}</span></li>`;
  return html`<nav class="pages" aria-label="Pages">
    <ul>
      ${link('First', 0, offset > 0)}
      ${link('Previous', Math.max(0, Math.min(offset, last + limit) - limit), offset > 0, 'prev')}
      ${link('Next', offset + limit, offset + limit < hits.count, 'next')} ${link('Last', last, offset < last)}
    </ul>
    ${hasChoices && otherPages(listing)}
  </nav>`;
}

/** Ways to any position of the list and to any record of the collection, and pages of other sizes. */
function otherPages({ site, collection, ask, hits, pairs }: Listing): Markup {
  const { limit } = ask.page;
  const most = pageRowsMax(site);
  const sizes = [...SIZES.filter((size) => size < most), most].map((size) =>
    size === limit
      ? html`<li><span aria-current="true">${size}</span></li>`
      : html`<li><a href="${queryOf(withValue(fromStart(pairs), 'limit', String(size)))}">${size}</a></li>`,
  );
  return html`<form method="get" class="jump">
      ${hiddenInputs(fromStart(pairs))}<label
        >Go to position
        <input
          type="number"
          name="${FORM_NAMES.position}"
          min="1"
          max="${hits.count}"
          value="${hits.offset + 1}"
          required
          aria-describedby="positions" /></label
      ><span id="positions">of ${countText(hits.count)}</span><button>Go</button>
    </form>
    <form method="get" class="jump">
      ${hiddenInputs(pairs)}<label
        >Open by ${collection.declaration.idField}
        <input type="number" name="${FORM_NAMES.id}" min="0" required /></label
      ><button>Open</button>
    </form>
    <div class="sizes">
      <span id="sizes">A page has</span>
      <ul aria-labelledby="sizes">
        ${sizes}
      </ul>
    </div>`;
}

function placed(pairs: readonly Pair[], offset: number): readonly Pair[] {
  return withValue(fromStart(pairs), 'offset', offset > 0 ? String(offset) : undefined);
}
