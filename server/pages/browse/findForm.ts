// The form above a list for words, a period and a place. It works without scripts: a redirect combines its fields to
// the parameters `search`, `datetime` and `bbox` of the API.
import { BROWSE_PREFIX, fromStart, type Pair, withoutNames, withValue } from './address.ts';
import { hiddenInputs } from './facets.ts';
import { memoize, type Site } from './site.ts';
import { html, type Markup } from './template.ts';
import { collectionLabel, inSentence } from '../../../engine/described.ts';
import { type CollectionIndex, hintsFor } from '../../../engine/engine.ts';

const name = (field: string): string => `${BROWSE_PREFIX}${field}`;
const WORDS = name('search');
const PERIOD = [name('start'), name('end')] as const;
/** The sides of a box with their labels and outermost values, in the order of `bbox`. */
const SIDES = [
  [name('west'), 'West', -180],
  [name('south'), 'South', -90],
  [name('east'), 'East', 180],
  [name('north'), 'North', 90],
] as const;
/** An end that is open in `datetime`. */
const OPEN = '..';

/** The parameters that the form writes. */
export const FOUND_BY: readonly string[] = ['search', 'datetime', 'bbox'];

const TRIED = 'search=a&bbox=0,0,1,1&datetime=2000-01-01';

/** The parameters of the form that a collection has. Parsing a query for each page would take 7 % of its CPU. */
const findParameters = memoize((collection: CollectionIndex, { queryOptions }: Site): readonly string[] => {
  const hints = hintsFor(collection, TRIED, queryOptions);
  return FOUND_BY.filter((parameter) => !hints.has(parameter));
});

/** The form with the values of a query; false for a collection without the parameters. */
export function findForm(site: Site, collection: CollectionIndex, pairs: readonly Pair[]): Markup | false {
  const effective = findParameters(collection, site);
  if (effective.length === 0) return false;
  const records = inSentence(collectionLabel(collection.declaration.name));
  const valueOf = (parameter: string): string => pairs.findLast(([each]) => each === parameter)?.[1] ?? '';
  const [start = '', end = start] = valueOf('datetime')
    .split('/', 2)
    .map((part) => (part.trim() === OPEN ? '' : part.trim()));
  const edges = valueOf('bbox').split(',', SIDES.length);
  const words = html`<label class="words"
    >Words in ${records} <input type="search" name="${WORDS}" value="${valueOf('search')}" autocomplete="off"
  /></label>`;
  const day = (label: string, field: string, value: string, example: string): Markup =>
    html`<label
      >${label} <input name="${field}" value="${value}" placeholder="${example}" autocomplete="off" size="10"
    /></label>`;
  const period = html`<fieldset>
    <legend>Period</legend>
    ${day('From', PERIOD[0], start, '2003')} ${day('To', PERIOD[1], end, '2003-12-31')}
  </fieldset>`;
  const place = html`<fieldset>
    <legend>Place, in degrees</legend>
    ${SIDES.map(
      ([field, label, most], i) =>
        html`<label
          >${label}
          <input
            type="number"
            name="${field}"
            value="${edges[i]?.trim() ?? ''}"
            min="${-Math.abs(most)}"
            max="${Math.abs(most)}"
            step="any"
        /></label> `,
    )}
  </fieldset>`;
  return html`<form method="get" class="find" role="search" aria-label="Find in ${records}">
    ${hiddenInputs(withoutNames(fromStart(pairs), ...effective))}${effective.includes('search') && words}
    ${effective.includes('datetime') && period} ${effective.includes('bbox') && place}
    <button>Find</button>
  </form>`;
}

/** Sets the parameters whose fields the form has sent, and removes those whose fields are all empty. */
export function withFound(pairs: readonly Pair[], own: ReadonlyMap<string, string>): readonly Pair[] {
  const combine = (
    among: readonly Pair[],
    parameter: string,
    fields: readonly string[],
    join: (texts: readonly string[]) => string,
  ): readonly Pair[] => {
    if (!fields.some((field) => own.has(field))) return among;
    const texts = fields.map((field) => own.get(field)?.trim() ?? '');
    return withValue(among, parameter, texts.some(Boolean) ? join(texts) : undefined);
  };
  const searched = combine(pairs, 'search', [WORDS], ([words = '']) => words);
  const dated = combine(searched, 'datetime', PERIOD, ([start = '', end = '']) => {
    return `${firstDay(start) || OPEN}/${lastDay(end) || OPEN}`;
  });
  const names = SIDES.map(([field]) => field);
  return combine(dated, 'bbox', names, (texts) => texts.map((text, i) => text || String(SIDES[i]![2])).join(','));
}

const YEAR_OR_MONTH = /^(\d{4})(?:-(\d\d))?$/;

/** The first day of a year or month; any other text as it is. */
function firstDay(text: string): string {
  const [, year, month = '01'] = YEAR_OR_MONTH.exec(text) ?? [];
  return year === undefined ? text : `${year}-${month}-01`;
}

function lastDay(text: string): string {
  const [, year, month = '12'] = YEAR_OR_MONTH.exec(text) ?? [];
  if (year === undefined) return text;
  const last = new Date(0);
  last.setUTCFullYear(Number(year), Number(month), 0);
  return `${year}-${month}-${String(last.getUTCDate()).padStart(2, '0')}`;
}
