// The forms of a list, made from the declaration: any field with any lookup that fits it, dates from and to, and the
// columns. They work without scripts: what they send is made into a query of the API by own.ts.
import { labelKeys } from '../../engine/described.ts';
import { fromStart, OWN, type Pair, withValue } from './address.ts';
import type { Listing } from './listing.ts';
import { columnsOf } from './table.ts';
import { html, type Markup } from './template.ts';

/** Dates that have a form of their own; the others are fields like any. */
const DATE_FORMS_MAX = 4;
/** Columns to choose from. */
const CHOICES_MAX = 60;

/** What the page's own parameters are called: a condition in three parts, columns, and that empty values are none. */
export const FORM_NAMES = {
  field: `${OWN}field`,
  lookup: `${OWN}lookup`,
  value: `${OWN}value`,
  not: `${OWN}not`,
  columns: `${OWN}columns`,
  filled: `${OWN}filled`,
} as const;

/** Inputs that send parameters as they are. */
export function hiddenInputs(pairs: readonly Pair[]): readonly Markup[] {
  return pairs.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`);
}

/** The choices of a form do not change with a visit: a fifth of what a page of 100 rows costs. */
const choices = new WeakMap<Listing['fields'], readonly Markup[]>();

/** A condition more: field, lookup, value. Scripts leave the lookups that fit the field, and suggest values. */
export function filterForm({ collection, fields, pairs }: Listing): Markup | false {
  if (fields.length === 0) return false;
  const [options, lookups] = choices.get(fields) ?? choicesOf(collection, fields);
  choices.set(fields, [options!, lookups!]);
  return html`<form method="get" class="filter" data-filter>
    <h2>Add a filter</h2>
    ${hiddenInputs(fromStart(pairs))}
    <label
      >Field
      <select name="${FORM_NAMES.field}">
        ${options}
      </select></label
    >
    <label
      >Comparison
      <select name="${FORM_NAMES.lookup}">
        ${lookups}
      </select></label
    >
    <label>Value <input name="${FORM_NAMES.value}" autocomplete="off" /></label>
    <label class="tick"><input type="checkbox" name="${FORM_NAMES.not}" value="1" /> Not</label>
    <button>Add</button>
  </form>`;
}

/** The fields, and all lookups of them. */
function choicesOf(collection: Listing['collection'], fields: Listing['fields']): readonly Markup[] {
  const named = labelKeys(collection)[0];
  const chosen = fields.find(({ key }) => key === named) ?? fields[0]!;
  const lookups = [...new Set(fields.flatMap(({ lookups: fit }) => fit))];
  const options = fields.map(
    ({ key, type, lookups: fit, values, sentence }) =>
      html`<option
        value="${key}"
        data-type="${type}"
        data-lookups="${fit.join(' ')}"
        data-values="${values.join(' ')}"
        data-sentence="${sentence ?? ''}"
        ${key === chosen.key && html` selected`}
      >
        ${key.split('__').join(' › ')}
      </option> `,
  );
  const words = lookups.map(
    (name) => html`<option value="${name}" ${name === 'icontains' && html` selected`}>${wordOf(name)}</option>`,
  );
  return [html`${options}`, html`${words}`];
}

/** A lookup as people say it. */
function wordOf(lookup: string): string {
  return WORDS[lookup] ?? lookup.replace('_', ' ');
}

const WORDS: Readonly<Record<string, string>> = {
  exact: 'is',
  in: 'is one of (commas)',
  isnull: 'is null (true, false)',
  gt: 'is greater than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  range: 'is between (two, comma)',
  contains: 'contains',
  startswith: 'starts with',
  endswith: 'ends with',
  iexact: 'is, in any case',
  icontains: 'contains, in any case',
  istartswith: 'starts with, in any case',
  iendswith: 'ends with, in any case',
  regex: 'matches the expression',
  iregex: 'matches, in any case',
  date: 'is in the day',
  year: 'is in the year',
};

/** From and to for each date of the records. */
export function dateForms({ fields, pairs }: Listing): readonly Markup[] {
  const dates = fields.filter(({ type, key }) => (type === 'date' || type === 'dateTime') && !key.includes('__'));
  return dates.slice(0, DATE_FORMS_MAX).map(({ key }) => {
    const [from, to] = [`${key}__gte`, `${key}__lte`];
    const day = (name: string): string => pairs.findLast(([each]) => each === name)?.[1].slice(0, 10) ?? '';
    const others = fromStart(withValue(withValue(pairs, from, undefined), to, undefined));
    return html`<form method="get" class="dates">
      <fieldset>
        <legend>${key}</legend>
        ${hiddenInputs(others)}<input type="hidden" name="${FORM_NAMES.filled}" value="1" />
        <label>From <input type="date" name="${from}" value="${day(from)}" /></label>
        <label>To <input type="date" name="${to}" value="${day(to)}" /></label><button>Apply</button>
      </fieldset>
    </form>`;
  });
}

/** Which columns the table has: the parameter `fields` of the API. */
export function columnChoice({ collection, ask, pairs }: Listing): Markup {
  const shown = new Set(columnsOf(collection, ask.page.keys));
  const { fields, others } = collection.keys;
  const ticks = [...fields, ...others]
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
