// The table of parameters other than filters. Links between pages, strict mode, the ignored header, the guide's table
// and the API descriptions derive from it.
//
// To add a parameter, add its row here, its reader in readers.ts and its test. If it shapes the page, also add a member
// of Page (ask.ts).

import { EXPAND_MAX, FACETS_MAX, ORDER_KEYS_MAX, WORDS_MAX } from './limits.ts';
import { readBbox, readDatetime } from './extents.ts';
import {
  EXPORT_FORMATS,
  readAfter,
  readBom,
  readExpand,
  readExplain,
  readFacets,
  readFields,
  readFormat,
  type Reading,
  readLimit,
  readOffset,
  readOrdering,
  readPretty,
  readStrict,
  type View,
} from './readers.ts';
import type { QueryOptions } from './ask.ts';
import { readSearch } from './search.ts';

/** A parameter other than a filter. */
export interface ParameterDeclaration {
  readonly name: string;
  /** The views that use it (A25); in other views its name is unknown. */
  readonly views: readonly View[];
  /** The setting that enables it. Without this setting the name is unknown. */
  readonly setting?: 'mayExplain' | 'pinsWalks';
  /** Links between pages set it themselves instead of repeating the client's value. */
  readonly isWritten?: true;
  /** The values of a repeated parameter are joined by commas; otherwise the last value counts (A47). */
  readonly isJoined?: true;
  /** On HTML pages: `place` says where in a list the page is, `unheeded` has no effect. */
  readonly onPages?: 'place' | 'unheeded';
  /** The possible values, human-readable. */
  readonly value: string;
  /** `value` as JSON Schema. Names are sent with commas between them. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** A value that fits every collection, if there is one. */
  readonly example?: unknown;
  readonly meaning: string;
  /**
   * Reads `value` and notes what is wrong with it. `at` is the position in the query of the parameter, or of its last
   * repeat.
   */
  readonly read: (reading: Reading, value: string, at: number) => void;
}

const EVERY_VIEW: readonly View[] = ['list', 'record', 'root', 'lookup'];
const LISTS: readonly View[] = ['list'];
const SWITCH = {
  value: '`1`, `true`; `0`, `false`',
  schema: { type: 'string', enum: ['1', 'true', '0', 'false'] },
  example: '1',
} as const;
const FORMATS = ['api', 'json', ...EXPORT_FORMATS];
const NAMES = { type: 'array', items: { type: 'string' } } as const;

/** All parameters, in the order in which they are read: those that others depend on come first (spec 4.2, A27). */
export const PARAMETERS: readonly ParameterDeclaration[] = [
  {
    name: 'format',
    views: ['list', 'record', 'root'],
    onPages: 'unheeded',
    value: FORMATS.map((format) => `\`${format}\``).join(', '),
    schema: { type: 'string', enum: FORMATS },
    example: 'json',
    meaning: 'format of the response: `api`, `json` and none are the same JSON, the others are exports, see below',
    read: readFormat,
  },
  {
    name: 'strict',
    views: EVERY_VIEW,
    ...SWITCH,
    meaning: 'refuses names without effect, values that would be replaced, and null as a text, with a suggestion',
    read: readStrict,
  },
  {
    name: 'pretty',
    views: EVERY_VIEW,
    ...SWITCH,
    meaning: 'indents JSON of up to 1 MiB; values stay as they are written',
    read: readPretty,
  },
  {
    name: 'bom',
    views: ['list', 'record'],
    onPages: 'unheeded',
    ...SWITCH,
    meaning: 'starts CSV with a byte order mark, by which Excel recognises UTF-8',
    read: readBom,
  },
  {
    name: 'limit',
    views: LISTS,
    isWritten: true,
    value: 'a positive integer',
    schema: { type: 'integer', minimum: 1, default: 100 },
    example: 100,
    meaning: 'size of the page: 100 by default, or the configured maximum; an export has all rows by default',
    read: readLimit,
  },
  {
    name: 'offset',
    views: LISTS,
    isWritten: true,
    onPages: 'place',
    value: 'an integer from 0',
    schema: { type: 'integer', minimum: 0, default: 0 },
    example: 200,
    meaning: 'number of records before the page',
    read: readOffset,
  },
  {
    name: 'fields',
    views: ['list', 'record'],
    isJoined: true,
    value: 'names, with commas',
    schema: NAMES,
    example: ['uuid', 'title'],
    meaning:
      'cuts records to these top-level keys, and adds joined fields of embedded and linked records ' +
      '(`timePeriod__startTime`), in tables as columns',
    read: readFields,
  },
  {
    name: 'expand',
    views: ['list', 'record'],
    isJoined: true,
    onPages: 'unheeded',
    value: `at most ${EXPAND_MAX} names of links, with commas`,
    schema: NAMES,
    meaning:
      'replaces links by the records that they lead to, also in these records (`responsiblepartyinfo_set__party`); not in tables',
    read: readExpand,
  },
  {
    name: 'ordering',
    views: LISTS,
    isJoined: true,
    value: `at most ${ORDER_KEYS_MAX} names, with commas; \`-\` for descending`,
    schema: NAMES,
    example: ['-ob_id'],
    meaning:
      'sorts by scalar fields and to-one relations, also of embedded records and over links to one record ' +
      '(`timePeriod__startTime`); null is last ascending and first descending, ties are in the order of ids',
    read: readOrdering,
  },
  {
    name: 'after',
    views: LISTS,
    isWritten: true,
    onPages: 'place',
    value: 'an id',
    schema: { type: 'integer', minimum: 0 },
    example: 141,
    meaning: 'records with a larger id, in the order of ids, to read a whole list; every page costs the same',
    read: readAfter,
  },
  {
    name: 'facets',
    views: LISTS,
    isJoined: true,
    value: `at most ${FACETS_MAX} names, with commas`,
    schema: NAMES,
    meaning:
      'adds `facets` after `results`: the number of records of the whole filtered list for each value, at most the 100 most ' +
      'frequent values, fewer if texts are long; also over links (`projects__title`) and by year ' +
      '(`timePeriod__startTime__year`)',
    read: readFacets,
  },
  {
    name: 'search',
    views: LISTS,
    value: `at most ${WORDS_MAX} words, with blanks; \`"a phrase"\` is one word`,
    schema: { type: 'string' },
    example: 'ice',
    meaning:
      'records that contain every word, in any case and with or without accents and plurals; without `ordering`, records ' +
      'with the words in their titles come first',
    read: readSearch,
  },
  {
    name: 'bbox',
    views: LISTS,
    value: '`west,south,east,north`, in degrees',
    schema: { type: 'array', items: { type: 'number' }, minItems: 4, maxItems: 4 },
    example: [-25, 60, -10, 68],
    meaning: 'records whose box overlaps this one, borders included; west > east crosses the date line',
    read: readBbox,
  },
  {
    name: 'datetime',
    views: LISTS,
    value: '`start/end`, `../end`, `start/..` or one time; dates or dates with times',
    schema: { type: 'string' },
    example: '2003-01-01/2003-12-31',
    meaning: 'records whose period overlaps this one, borders included; a period without an end is open',
    read: readDatetime,
  },
  {
    name: 'explain',
    views: LISTS,
    setting: 'mayExplain',
    onPages: 'unheeded',
    ...SWITCH,
    meaning:
      'with `--explain`: responds with the query plan instead of the list: estimates, work, where it ran, what is cached',
    read: readExplain,
  },
  {
    name: 'generation',
    views: LISTS,
    setting: 'pinsWalks',
    isWritten: true,
    onPages: 'unheeded',
    value: 'a generation',
    schema: { type: 'string' },
    example: '0123456789ab',
    meaning: 'with `--pin-walks`, which adds it to links: the response is 410 if another generation is served',
    read: (reading, value) => (reading.generation = value.trim() || undefined),
  },
];

const TURNS: Readonly<Record<View, ReadonlyMap<string, number>>> = {
  list: turnsOf('list'),
  record: turnsOf('record'),
  root: turnsOf('root'),
  lookup: turnsOf('lookup'),
};

function turnsOf(view: View): ReadonlyMap<string, number> {
  const heeded = PARAMETERS.map(({ name, views }, turn) => [name, views.includes(view) ? turn : -1] as const);
  return new Map(heeded.filter(([, turn]) => turn >= 0));
}

/** Index in `PARAMETERS` of a parameter that a view accepts under these settings, or -1. Cost: one map look-up. */
export function turnOf(name: string, view: View, options: QueryOptions): number {
  const turn = TURNS[view].get(name);
  return turn !== undefined && isOffered(PARAMETERS[turn]!, options) ? turn : -1;
}

/** Names of the parameters that a view accepts under these settings. */
export function parameterNames(view: View, options: QueryOptions): readonly string[] {
  return PARAMETERS.filter((row) => row.views.includes(view) && isOffered(row, options)).map(({ name }) => name);
}

/** Names of the parameters whose `onPages` is `what` and that these settings enable. */
export function namesOnPages(what: ParameterDeclaration['onPages'], options: Switches): ReadonlySet<string> {
  return new Set(PARAMETERS.filter((row) => row.onPages === what && isOffered(row, options)).map(({ name }) => name));
}

/** Whether links between pages set a parameter of lists themselves. Cost: one map look-up. */
export function isWrittenByLinks(name: string, options: QueryOptions): boolean {
  const turn = turnOf(name, 'list', options);
  return turn >= 0 && PARAMETERS[turn]!.isWritten === true;
}

/** Settings that enable parameters. */
type Switches = Pick<QueryOptions, NonNullable<ParameterDeclaration['setting']>>;

function isOffered({ setting }: ParameterDeclaration, options: Switches): boolean {
  return setting === undefined || options[setting] === true;
}
