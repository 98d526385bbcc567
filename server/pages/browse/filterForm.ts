// The forms of a list, made from the declaration: any field with any lookup that fits it, dates from and to, and the
// columns. They work without scripts: what they send is made into a query of the API by own.ts.
import { type FilterField, labelKeys } from '../../../engine/described.ts';
import { LOOKUPS } from '../../../engine/engine.ts';
import { fromStart, OWN, type Pair, withValue } from './address.ts';
import type { Listing } from './listing.ts';
import { columnsOf } from './table.ts';
import { html, type Markup } from './template.ts';

/** Dates that have a form of their own; the others are fields like any. */
const DATE_FORMS_MAX = 4;
/** Columns to choose from. */
const CHOICES_MAX = 60;

/**
 * What the page's own parameters are called: a condition in parts, columns, a date from and to, a position in the list,
 * the id of a record.
 */
export const FORM_NAMES = {
  field: `${OWN}field`,
  lookup: `${OWN}lookup`,
  value: `${OWN}value`,
  not: `${OWN}not`,
  columns: `${OWN}columns`,
  date: `${OWN}date`,
  from: `${OWN}from`,
  to: `${OWN}to`,
  position: `${OWN}position`,
  id: `${OWN}id`,
} as const;

/** What the filter form says. */
export interface FormEntry {
  readonly field: string;
  readonly lookup: string;
  readonly value: string;
  readonly isNegated: boolean;
}

/** What it said when it was refused, and why. */
export interface RefusedEntry extends FormEntry {
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

/**
 * A condition more: field, lookup, value. All values of enumerations are suggested with their fields; scripts leave the
 * lookups and values that fit the field. With `refused` it is filled in, and says what is wrong where that stands.
 */
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

/** A lookup as people say it, and how its value is written. */
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
