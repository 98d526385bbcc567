// The facets of a list and its forms: any field with any lookup that fits it, dates, and columns. The forms need no
// script; own.ts turns what they send into a query of the API.
import { countText } from '../../observe/quantities.ts';
import { fromStart, BROWSE_PREFIX, type Pair, plainKey, queryTextOf, withoutNames, withValue } from './address.ts';
import type { Listing } from './listing.ts';
import { html, type Markup } from './template.ts';
import { cut } from './values.ts';
import { type FilterField, labelKeys } from '../../../engine/described.ts';
import { LOOKUPS } from '../../../engine/engine.ts';
import { columnsOf } from './table.ts';

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
      ${isLink ? html`<a href="${href}" rel="nofollow" ${current}><bdi>${label}</bdi></a>` : html`<bdi>${label}</bdi>`}
      <span class="count">${countText(count)}</span>
    </li>`;
  });
}

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

/** Dates that have a form of their own; the others are fields like any. */
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

/** Inputs that send parameters as they are. */
export function hiddenInputs(pairs: readonly Pair[]): readonly Markup[] {
  return pairs.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`);
}

/** The choices of an empty form do not change with a visit: a fifth of what a page of 100 rows costs. */
const choices = new WeakMap<Listing['fields'], Choices>();

interface Choices {
  readonly options: readonly Markup[];
  readonly lookups: readonly Markup[];
  readonly values: readonly Markup[];
}

/** A form for one more condition. With `refused` it is filled in and shows the problem. */
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

/** The fields, all lookups of them, and the values that are known. */
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

/** From and to for each date of the records. */
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

/** The day of a bound as a form shows it, empty without one. */
export function dayOf(bound = ''): string {
  return bound.slice(0, 'yyyy-mm-dd'.length);
}

/** Which columns the table has: the parameter `fields` of the API. */
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

/** Whether `fields` can name a key: it takes names with commas between them, and trims each. */
function isNameable(key: string): boolean {
  return key !== '' && key === key.trim() && !key.includes(',');
}
