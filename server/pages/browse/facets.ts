// The facets of a list and its forms: for filters (any field with any lookup that fits it), and for columns.
// The forms work without scripts. own.ts translates their parameters into an API query.
import { countText } from '../../observe/quantities.ts';
import { fromStart, BROWSE_PREFIX, type Pair, plainKey, queryOf, queryTextOf, withValue } from './address.ts';
import type { ListFacet, Listing } from './listing.ts';
import { compact, html, type Markup } from './template.ts';
import { labelOf } from './names.ts';
import { cut } from './values.ts';
import { fieldLabel, type FilterField, labelKeys, linkedCollection, shownFacets } from '../../../engine/described.ts';
import { type CollectionIndex, LOOKUPS, rowOfId } from '../../../engine/engine.ts';
import { fieldsOf, isFiltered, memoize, type Site, type Tour } from './site.ts';
import { columnsOf } from './table.ts';

/** Facets of a page: the limit of one API request. */
const FACETS_SHOWN_MAX = 10;
/** Values of a facet that are visible at once. The others, up to VALUES_MAX, need a click. */
const VALUES_OPEN = 6;
const VALUES_MAX = 10;
/** Longer values are cut, and are not links. */
const VALUE_CHARACTERS_MAX = 128;
/** Last name of a facet that counts years. */
const YEAR = '__year';

/** The names of the facets that a list has if its query names none. */
export const facetNames = memoize((collection: CollectionIndex, site: Site): readonly string[] => {
  const said = shownFacets(collection).filter((name) =>
    isFiltered(site.queryOptions, collection.declaration, name.split('__', 1)[0]!),
  );
  const valued = fieldsOf(collection, site).filter(({ values }) => values.length > 0);
  return (said.length > 0 ? said : valued.map(({ key }) => key)).slice(0, FACETS_SHOWN_MAX);
});

/** Returns whether a condition is one of those that the links of a facet set and remove. */
export function isConditionOf(facet: string, key: string): boolean {
  return facet.endsWith(YEAR)
    ? key === facet || key === rangeKey(facet)
    : key === plainKey(facet) || key === `${facet}__in` || key === `${facet}__isnull`;
}

function rangeKey(facet: string): string {
  return `${facet.slice(0, -YEAR.length)}__range`;
}

/**
 * Panels by the counts that they show and the query that their links repeat: all pages of a list have the same, and the
 * router caches the counts. They save a fifth of the CPU of a page.
 */
const panels = new WeakMap<Listing['facets'], { readonly query: string; readonly made: Markup }>();

/** One panel for each field. Cost: its values, and the query once. */
export function facetPanels(listing: Listing): Markup {
  const query = JSON.stringify([listing.hasChoices, listing.tour.baseUrl, fromStart(listing.pairs)]);
  const known = panels.get(listing.facets);
  if (known?.query === query) return known.made;
  const made = compact(drawPanels(listing));
  panels.set(listing.facets, { query, made });
  return made;
}

function drawPanels(listing: Listing): readonly Markup[] {
  return listing.facets
    .filter(({ values }) => values.length > 0)
    .map((facet) => {
      const { collection, hasChoices } = listing;
      const isYears = facet.name.endsWith(YEAR) && facet.values.some(([year]) => YEAR_NUMBER.test(year));
      const labels = fieldLabel(collection.declaration.name, facet.name).split(' › ');
      const label = isYears ? `${labels.at(-2)!} year` : labels.at(-1)!;
      return html`<section class="facet">
        <h2><bdi>${label}</bdi></h2>
        ${isYears && hasChoices ? yearBars(listing, facet) : valueList(listing, facet)}
      </section>`;
    });
}

function valueList(listing: Listing, facet: ListFacet): Markup {
  const items = drawChoices(listing, facet);
  const more = items.length > VALUES_OPEN + 1 ? items.slice(VALUES_OPEN) : [];
  return html`<ul>
      ${items.slice(0, items.length - more.length)}
    </ul>
    ${
      more.length > 0 &&
      html`<details>
        <summary>${more.length} more</summary>
        <ul>
          ${more}
        </ul>
      </details>`
    }`;
}

/**
 * The values of a field: those that are chosen, then the most frequent. A link adds its value to the chosen ones, or
 * removes it. A value that no list of values can express replaces them.
 */
function drawChoices(listing: Listing, { name, values }: ListFacet): readonly Markup[] {
  const { site, tour, collection, pairs, hasChoices } = listing;
  const counts = new Map(values);
  const chosen = chosenValues(pairs, name);
  const isUpTo = isOfSeveral(listing, name) && pairs.some(([key]) => isOnSame(key, name) && !isConditionOf(name, key));
  const target = linkedCollection(collection, name);
  const to = target && site.collections(target.name);
  const others = hasChoices ? queryTextOf(fromStart(pairs.filter(([key]) => !isConditionOf(name, key)))) : '';
  const shown = [...new Set([...chosen, ...counts.keys()])].slice(0, Math.max(VALUES_MAX, chosen.length));
  return shown.map((value) => {
    const isChosen = chosen.includes(value);
    const query = conditionsFor(name, isChosen ? chosen.filter((each) => each !== value) : withChoice(chosen, value));
    const text = value === NONE ? 'none' : value === '' ? 'empty' : ((to && idLabel(site, tour, to, value)) ?? value);
    const label = html`<bdi>${cut(text, VALUE_CHARACTERS_MAX)}</bdi>`;
    const isLink = hasChoices && value.length <= VALUE_CHARACTERS_MAX && isAskable(value);
    const href = `?${[others, queryTextOf(query)].filter(Boolean).join('&')}`;
    const count = counts.get(value);
    return html`<li>
      ${isLink ? html`<a href="${href}" rel="nofollow" ${isChosen && html` aria-current="true"`}>${label}</a>` : label}
      ${count !== undefined && html`<span class="count">${isUpTo && '≤ '}${countText(count)}</span>`}
    </li>`;
  });
}

/** The label of the record with this id. */
function idLabel(site: Site, tour: Tour, to: CollectionIndex, id: string): string | undefined {
  const row = rowOfId(to, Number(id));
  return row < 0 ? undefined : labelOf(site, tour, to, row);
}

/** The values that the conditions on a facet require, in their order. */
function chosenValues(pairs: readonly Pair[], name: string): readonly string[] {
  const values = pairs.flatMap(([key, value]) => {
    if (key === plainKey(name)) return [value];
    if (key === `${name}__in`) return value.split(',').map((member) => member.trim());
    return key === `${name}__isnull` && value === 'true' ? [NONE] : [];
  });
  return [...new Set(values)].slice(0, CHOSEN_MAX);
}

/** A list of values has no commas in them and no null. */
function withChoice(chosen: readonly string[], value: string): readonly string[] {
  const all = [...chosen, value];
  return all.some((each) => each === NONE || each === '' || each.includes(',')) ? [value] : all;
}

function conditionsFor(name: string, values: readonly string[]): readonly Pair[] {
  const [first] = values;
  if (first === undefined) return [];
  if (values.length > 1) return [[`${name}__in`, values.join(',')]];
  return first === NONE ? [[`${name}__isnull`, 'true']] : [[plainKey(name), first]];
}

const YEAR_NUMBER = /^\d{4}$/;
const BARS_MAX = 24;
/** Years of a bar. The last ones fit any span of four digits. */
const BAR_YEARS = [1, 2, 5, 10, 20, 50, 100, 200, 500];
/** Size of the bars together, in units of the drawing. */
const BARS_WIDTH = 288;
const BARS_HEIGHT = 56;

interface Years {
  readonly from: number;
  readonly to: number;
}

/**
 * The years of a field as bars of one or more years. The link of a bar selects its years. If years are selected, it
 * extends them to the bar, narrows them to it, or removes them.
 */
function yearBars({ pairs }: Listing, { name, values }: ListFacet): Markup {
  const counts = values.flatMap(([year, count]) => (YEAR_NUMBER.test(year) ? [[Number(year), count] as const] : []));
  const years = counts.map(([year]) => year);
  const [first, last] = [Math.min(...years), Math.max(...years)];
  const step = BAR_YEARS.find((size) => Math.floor(last / size) - Math.floor(first / size) < BARS_MAX)!;
  const start = Math.floor(first / step);
  const sums = Array.from({ length: Math.floor(last / step) - start + 1 }, () => 0);
  for (const [year, count] of counts) sums[Math.floor(year / step) - start]! += count;
  const most = Math.max(...sums);
  const chosen = chosenYears(pairs, name);
  const others = fromStart(pairs.filter(([key]) => !isConditionOf(name, key)));
  const width = Math.min(BARS_WIDTH / sums.length, BARS_WIDTH / 8);
  const bars = sums.map((count, i) => {
    if (count === 0) return false;
    const bar: Years = { from: (start + i) * step, to: (start + i + 1) * step - 1 };
    const height = Math.max(2, (count / most) * BARS_HEIGHT);
    const isChosen = chosen && chosen.from <= bar.to && bar.from <= chosen.to;
    const span = step === 1 ? String(bar.from) : `${bar.from} to ${bar.to}`;
    const x = (i * width).toFixed(1);
    const sized = html`x="${x}" width="${(width - 2).toFixed(1)}"`;
    return html`<a
      href="${queryOf([...others, ...yearConditions(name, selectYears(chosen, bar))])}"
      rel="nofollow"
      ${isChosen && html` aria-current="true"`}
      ><title>${span}: ${countText(count)}</title>
      <rect class="reach" ${sized} height="${BARS_HEIGHT}" />
      <rect ${sized} y="${(BARS_HEIGHT - height).toFixed(1)}" height="${height.toFixed(1)}"
    /></a>`;
  });
  const end = sums.length > 1 ? (start + sums.length) * step - 1 : '';
  return html`<svg class="years" viewBox="0 0 ${BARS_WIDTH} ${BARS_HEIGHT + 15}">
    ${bars}
    <text y="${BARS_HEIGHT + 13}">${start * step}</text>
    <text x="${(width * sums.length).toFixed(1)}" y="${BARS_HEIGHT + 13}" text-anchor="end">${end}</text>
  </svg>`;
}

function chosenYears(pairs: readonly Pair[], name: string): Years | undefined {
  const [condition, another] = pairs.filter(([key]) => isConditionOf(name, key));
  const [from = NaN, to = from] = condition?.[1].split(',').map((text) => Number(text.trim().slice(0, 4))) ?? [];
  return another || Number.isNaN(from + to) ? undefined : { from, to };
}

/** The years after a click on a bar. */
function selectYears(chosen: Years | undefined, bar: Years): Years | undefined {
  if (chosen?.from === bar.from && chosen.to === bar.to) return undefined;
  if (!chosen || (chosen.from <= bar.from && bar.to <= chosen.to)) return bar;
  return { from: Math.min(chosen.from, bar.from), to: Math.max(chosen.to, bar.to) };
}

function yearConditions(name: string, years: Years | undefined): readonly Pair[] {
  if (!years) return [];
  const [from, to] = [years.from, years.to].map((year) => String(year).padStart(4, '0'));
  return years.from === years.to
    ? [[name, String(years.from)]]
    : [[rangeKey(name), `${from}-01-01,${to}-12-31${DAY_END}`]];
}

function isOfSeveral({ fields }: Listing, name: string): boolean {
  return fields.find(({ key }) => key === name)?.isOrdered !== true;
}

/**
 * Returns whether one related record, or one value, must match both this filter and a filter on `name` (A45). Negated
 * filters need not match the same one.
 */
function isOnSame(key: string, name: string): boolean {
  const rootOf = (path: string): string => path.split('__', 1)[0]!;
  return rootOf(key) === rootOf(name) && !key.endsWith('!');
}

/** Returns whether a filter can express a value: the API trims texts and rejects NUL. */
function isAskable(value: string): boolean {
  return value === value.trim() && !value.includes('\0');
}

/**
 * Name of the records without a value in a facet. Records whose value is this very text are counted under the same
 * name.
 */
const NONE = 'null';
/** Chosen values of a facet that are shown. */
const CHOSEN_MAX = 32;
/** The end of a day in the upper bound of a time. */
export const DAY_END = 'T23:59:59.999999';

const CHOICES_MAX = 60;

export const FORM_NAMES = {
  field: `${BROWSE_PREFIX}field`,
  lookup: `${BROWSE_PREFIX}lookup`,
  value: `${BROWSE_PREFIX}value`,
  not: `${BROWSE_PREFIX}not`,
  columns: `${BROWSE_PREFIX}columns`,
} as const;

export interface FormEntry {
  readonly field: string;
  readonly lookup: string;
  readonly value: string;
  readonly isNegated: boolean;
}

interface RefusedEntry extends FormEntry {
  readonly message: string;
}

/** Hidden inputs that send parameters unchanged. */
export function hiddenInputs(pairs: readonly Pair[]): readonly Markup[] {
  return pairs.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`);
}

interface Choices {
  readonly options: Markup;
  readonly lookups: Markup;
  readonly values: Markup;
}

/** A form that adds a condition. With `refused` it is filled in and shows the problem. */
export function filterForm(
  { collection, fields, pairs }: Pick<Listing, 'collection' | 'fields' | 'pairs'>,
  refused?: RefusedEntry,
): Markup | false {
  if (fields.length === 0) return false;
  const { options, lookups, values } = refused ? lookupChoices(fields, refused) : emptyChoices(fields, collection);
  const fits = ({ key, lookups: fit }: FilterField): boolean => key === refused?.field && fit.includes(refused.lookup);
  const wrongAt = refused && (fields.some(fits) ? 'value' : 'lookup');
  const marks = html` aria-invalid="true" aria-describedby="filter-wrong"`;
  const wrong = refused && html`<p class="wrong" id="filter-wrong"><bdi>${refused.message}</bdi></p>`;
  return html`<form method="get" class="filter" data-filter>
    <h2>${refused ? 'Correct the filter' : 'Add a filter'}</h2>
    ${hiddenInputs(fromStart(pairs))}
    <label
      >Field
      <select name="${FORM_NAMES.field}">
        ${options}
      </select></label
    >
    <label
      >Comparison
      <select name="${FORM_NAMES.lookup}" ${wrongAt === 'lookup' && marks}>
        ${lookups}
      </select></label
    >
    ${wrongAt === 'lookup' && wrong}
    <label
      >Value
      <input
        name="${FORM_NAMES.value}"
        value="${refused?.value ?? ''}"
        list="filter-values"
        autocomplete="off"
        ${wrongAt === 'value' && marks}
    /></label>
    ${wrongAt === 'value' && wrong}
    <datalist id="filter-values">${values}</datalist>
    <label class="tick"
      ><input type="checkbox" name="${FORM_NAMES.not}" value="1" ${refused?.isNegated && html` checked`} /> Not</label
    >
    <button>${refused ? 'Apply' : 'Add'}</button>
  </form>`;
}

/** Choices of the empty filter form. Making them for each page would take a fifth of its CPU. */
const emptyChoices = memoize((fields: Listing['fields'], collection: CollectionIndex): Choices => {
  const named = labelKeys(collection)[0];
  const { key } = fields.find((field) => field.key === named) ?? fields[0]!;
  return lookupChoices(fields, { field: key, lookup: 'icontains' });
});

/**
 * The options for the fields, for all their lookups, and for the values of enumerations. Fields have few different sets
 * of lookups. They are numbered: to repeat them for each field was 4 % of a page.
 */
function lookupChoices(fields: Listing['fields'], chosen: Pick<FormEntry, 'field' | 'lookup'>): Choices {
  const lookups = [...new Set(fields.flatMap(({ lookups: fit }) => fit))];
  const sets = [...new Set(fields.map(({ lookups: fit }) => fit.join(' ')))];
  const options = fields.map(
    ({ key, type, lookups: fit, values, sentence }) =>
      html`<option
        value="${key}"
        data-type="${type}"
        data-set="${sets.indexOf(fit.join(' '))}"
        ${values.length > 0 && html` data-values="${values.join(' ')}"`}
        data-sentence="${sentence}"
        ${key === chosen.field && html` selected`}
      >
        ${key.split('__').join(' › ')}
      </option> `,
  );
  const words = lookups.map((name) => {
    const within = sets.flatMap((set, i) => (set.split(' ').includes(name) ? [i] : [])).join(' ');
    const selected = name === chosen.lookup && html` selected`;
    return html`<option value="${name}" data-sets="${within}" ${selected}>${WORDS.get(name)}</option>`;
  });
  const values = fields.flatMap(({ key, values: all }) =>
    all.map((value) => html`<option value="${value}" label="${value} (${key})"></option>`),
  );
  return { options: compact(options), lookups: compact(words), values: compact(values) };
}

const WORDS: ReadonlyMap<string, string> = new Map(
  LOOKUPS.map(({ name, meaning, written }) => [name, written === undefined ? meaning : `${meaning} (${written})`]),
);

/** A form that selects the columns of the table, by the API's parameter `fields`. */
export function columnChoice({ collection, ask, pairs }: Listing): Markup {
  const shown = new Set(columnsOf(collection, ask.page.keys));
  const { fields, others } = collection.keys;
  const ticks = [...fields, ...others]
    .filter(isNameable)
    .slice(0, CHOICES_MAX)
    .map(
      (key) =>
        html`<label class="tick"
          ><input type="checkbox" name="${FORM_NAMES.columns}" value="${key}" ${shown.has(key) && html` checked`} />
          <bdi>${key}</bdi></label
        >`,
    );
  return html`<details class="choice">
    <summary>Columns</summary>
    <form method="get">
      <fieldset>
        <legend class="unseen">Columns</legend>
        ${hiddenInputs(withValue(pairs, 'fields', undefined))}${ticks}<button>Show</button>
      </fieldset>
    </form>
  </details>`;
}

/** Returns whether `fields` can name a key: the parameter is a comma-separated list, and the API trims each name. */
function isNameable(key: string): boolean {
  return key !== '' && key === key.trim() && !key.includes(',');
}
