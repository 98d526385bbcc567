// The facets of a list and its forms: for filters (any field with any lookup that fits it), for dates, and for columns.
// The forms work without scripts. own.ts translates their parameters into an API query.
import { countText } from '../../observe/quantities.ts';
import { fromStart, BROWSE_PREFIX, type Pair, plainKey, queryTextOf, withoutNames, withValue } from './address.ts';
import type { Listing } from './listing.ts';
import { html, type Markup } from './template.ts';
import { cut } from './values.ts';
import { fieldLabel, type FilterField, labelKeys } from '../../../engine/described.ts';
import { LOOKUPS } from '../../../engine/engine.ts';
import { columnsOf } from './table.ts';

type FacetCounts = Listing['hits']['facets'][number];

/** Facets of a page: the limit of one API request. */
export const FACETS_SHOWN_MAX = 10;
/**
 * Values of a facet that are visible at once. The others, up to VALUES_MAX (more than any enumeration has), need a
 * click.
 */
const VALUES_OPEN = 8;
const VALUES_MAX = 32;
/** Longer values are cut, and are not links. */
const VALUE_CHARACTERS_MAX = 128;

/** One panel for each field. Cost: its values, and the query once. */
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
        <h2>${fieldLabel(listing.collection.declaration.name, facet.name)}</h2>
        <ul>
          ${shown}
        </ul>
        ${rest}
      </section>`;
    });
}

/**
 * The values of a field. The link of a value replaces any other value of the field in the query. A value without a link
 * would find other records than its count says.
 */
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
      ${isLink ? html`<a href="${href}" rel="nofollow" ${current}><bdi>${label}</bdi></a>` : html`<bdi>${label}</bdi>`}
      <span class="count">${countText(count)}</span>
    </li>`;
  });
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

/** Date fields with a separate form. Any others are only in the filter form. */
const DATE_FORMS_MAX = 4;
const CHOICES_MAX = 60;

export const FORM_NAMES = {
  field: `${BROWSE_PREFIX}field`,
  lookup: `${BROWSE_PREFIX}lookup`,
  value: `${BROWSE_PREFIX}value`,
  not: `${BROWSE_PREFIX}not`,
  columns: `${BROWSE_PREFIX}columns`,
  date: `${BROWSE_PREFIX}date`,
  from: `${BROWSE_PREFIX}from`,
  to: `${BROWSE_PREFIX}to`,
  position: `${BROWSE_PREFIX}position`,
  id: `${BROWSE_PREFIX}id`,
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

/**
 * Choices of the empty filter form. They are the same for every visit, and building them takes a fifth of the time of a
 * page with 100 rows.
 */
const choices = new WeakMap<Listing['fields'], Choices>();

interface Choices {
  readonly options: readonly Markup[];
  readonly lookups: readonly Markup[];
  readonly values: readonly Markup[];
}

/** A form that adds a condition. With `refused` it is filled in and shows the problem. */
export function filterForm(
  { collection, fields, pairs }: Pick<Listing, 'collection' | 'fields' | 'pairs'>,
  refused?: RefusedEntry,
): Markup | false {
  if (fields.length === 0) return false;
  const { options, lookups, values } = refused ? lookupChoices(fields, refused) : emptyChoices(collection, fields);
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

function emptyChoices(collection: Listing['collection'], fields: Listing['fields']): Choices {
  const named = labelKeys(collection)[0];
  const { key } = fields.find((field) => field.key === named) ?? fields[0]!;
  const made = choices.get(fields) ?? lookupChoices(fields, { field: key, lookup: 'icontains' });
  choices.set(fields, made);
  return made;
}

/** The options for the fields, for all their lookups, and for the values of enumerations. */
function lookupChoices(fields: Listing['fields'], chosen: Pick<FormEntry, 'field' | 'lookup'>): Choices {
  const lookups = [...new Set(fields.flatMap(({ lookups: fit }) => fit))];
  const options = fields.map(
    ({ key, type, lookups: fit, values, sentence }) =>
      html`<option
        value="${key}"
        data-type="${type}"
        data-lookups="${fit.join(' ')}"
        data-values="${values.join(' ')}"
        data-sentence="${sentence}"
        ${key === chosen.field && html` selected`}
      >
        ${key.split('__').join(' › ')}
      </option> `,
  );
  const words = lookups.map(
    (name) => html`<option value="${name}" ${name === chosen.lookup && html` selected`}>${WORDS.get(name)}</option>`,
  );
  const values = fields.flatMap(({ key, values: all }) =>
    all.map((value) => html`<option value="${value}" label="${value} (${key})"></option>`),
  );
  return { options: [html`${options}`], lookups: [html`${words}`], values: [html`${values}`] };
}

const WORDS: ReadonlyMap<string, string> = new Map(
  LOOKUPS.map(({ name, meaning, written }) => [name, written === undefined ? meaning : `${meaning} (${written})`]),
);

/** A form with a first and a last day for each of the first DATE_FORMS_MAX top-level date fields. */
export function dateForms({ fields, pairs }: Listing): readonly Markup[] {
  const dates = fields.filter(({ type, key }) => (type === 'date' || type === 'dateTime') && !key.includes('__'));
  return dates.slice(0, DATE_FORMS_MAX).map(({ key }) => {
    const [from, to] = [`${key}__gte`, `${key}__lte`];
    const day = (name: string): string => dayOf(pairs.findLast(([each]) => each === name)?.[1]);
    return html`<form method="get" class="dates">
      <fieldset>
        <legend>${key}</legend>
        ${hiddenInputs(fromStart(pairs))}<input type="hidden" name="${FORM_NAMES.date}" value="${key}" />
        <label>From <input type="date" name="${FORM_NAMES.from}" value="${day(from)}" /></label>
        <label>To <input type="date" name="${FORM_NAMES.to}" value="${day(to)}" /></label><button>Apply</button>
      </fieldset>
    </form>`;
  });
}

/** The day of a bound as a form shows it, empty without a bound. */
export function dayOf(bound = ''): string {
  return bound.slice(0, 'yyyy-mm-dd'.length);
}

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
