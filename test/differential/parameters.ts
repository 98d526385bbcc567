// The oracle's table of parameters that are not filters: the places where each is used, and how its values are drawn,
// mostly valid, some invalid, spelled in many ways. Add a parameter as a row here, and its effect in views.ts.
import { collectionNamed } from '../../engine/schema/catalogue.ts';
import type { Collection, Field } from '../../engine/schema/types.ts';
import type { Random } from '../support/random.ts';
import { memberOf, type Json } from './json.ts';
import { encode } from './query.ts';
import { randomFieldPath } from './requestFilters.ts';

/** The kind of view. */
export type Place = 'list' | 'record' | 'root';

/** The names in use, in the order in which they are suggested. `isPinning`: walks are pinned. */
export function parameterNames(place: Place, isPinning: boolean): readonly string[] {
  const heeded = Object.entries(ROWS).filter(([, { places }]) => places.includes(place));
  return heeded.map(([name]) => name).filter((name) => isPinning || name !== 'generation');
}

/** Whether the values of a repeated parameter form one list; for others the last value counts. */
export function isJoined(name: string): boolean {
  return ROWS[name]?.isJoined === true;
}

/** Draws parameters for a list, some of them repeated; `model` is a record of the collection. */
export function randomParameters(random: Random, collection: Collection, model: Json | undefined): readonly string[] {
  const drawing = { random, collection, model };
  return Object.entries(ROWS).flatMap(([name, { draw }]) => {
    const values = draw(drawing);
    const more = random.chance(0.1) ? random.several(1, 3, () => draw(drawing)).flat() : [];
    return [...values, ...more].map((value) => `${name}=${value}`);
  });
}

interface Drawing {
  readonly random: Random;
  readonly collection: Collection;
  readonly model: Json | undefined;
}

/** `draw` gives values as written in a query: none in most requests. */
interface Row {
  readonly places: readonly Place[];
  readonly isJoined?: true;
  readonly draw: (drawing: Drawing) => readonly string[];
}

const EVERYWHERE: readonly Place[] = ['list', 'record', 'root'];
const LISTS: readonly Place[] = ['list'];
const FORMATS: readonly string[] = ['api', 'json', '', 'api', 'json', '', 'ndjson', 'csv', 'csv', 'xml', 'API'];

const ROWS: Readonly<Record<string, Row>> = {
  format: { places: EVERYWHERE, draw: ({ random }) => sometimes(random, 0.35, () => random.pick(FORMATS)) },
  strict: {
    places: EVERYWHERE,
    draw: ({ random }) => sometimes(random, 0.06, () => random.pick(['1', '1', '0', 'True', 'False', '', 'on'])),
  },
  pretty: {
    places: EVERYWHERE,
    draw: ({ random }) => sometimes(random, 0.06, () => random.pick(['1', '1', '0', 'true', 'yes', ''])),
  },
  bom: {
    places: ['list', 'record'],
    draw: ({ random }) => sometimes(random, 0.06, () => random.pick(['1', '1', '0', 'true', 'yes', ''])),
  },
  limit: {
    places: LISTS,
    draw: ({ random }) => [0.5, 0.05].flatMap((chance) => sometimes(random, chance, () => randomInteger(random))),
  },
  offset: { places: LISTS, draw: ({ random }) => sometimes(random, 0.4, () => randomInteger(random)) },
  fields: {
    places: ['list', 'record'],
    isJoined: true,
    draw: (drawing) => {
      const { random } = drawing;
      return random.chance(0.3) ? random.several(1, 3, () => randomKeys(drawing)) : [];
    },
  },
  expand: {
    places: ['list', 'record'],
    isJoined: true,
    draw: (drawing) => {
      const { random } = drawing;
      return sometimes(random, 0.15, () => namesOf(random, random.chance(0.05) ? 14 : 3, () => randomLink(drawing)));
    },
  },
  ordering: {
    places: LISTS,
    isJoined: true,
    draw: (drawing) => {
      const { random } = drawing;
      const key = (): string => `${random.chance(0.4) ? '-' : ''}${randomField(drawing)}`;
      return sometimes(random, 0.3, () => namesOf(random, random.chance(0.05) ? 30 : 4, key));
    },
  },
  after: {
    places: LISTS,
    draw: ({ random, model }) =>
      sometimes(random, 0.12, () => (random.chance(0.15) ? encode(random.pick(ODD_IDS), '+') : idOf(model))),
  },
  facets: {
    places: LISTS,
    isJoined: true,
    draw: (drawing) => {
      const { random } = drawing;
      const most = random.chance(0.05) ? 14 : 3;
      return sometimes(random, 0.15, () => namesOf(random, most, () => randomField(drawing)));
    },
  },
  search: { places: LISTS, draw: (drawing) => sometimes(drawing.random, 0.12, () => randomSearch(drawing)) },
  bbox: { places: LISTS, draw: ({ random }) => sometimes(random, 0.08, () => randomBox(random)) },
  datetime: { places: LISTS, draw: ({ random }) => sometimes(random, 0.08, () => randomInterval(random)) },
  generation: {
    places: LISTS,
    draw: ({ random }) => sometimes(random, 0.06, () => random.pick(['', '+', 'fedcba987654'])),
  },
};

function sometimes(random: Random, probability: number, draw: () => string): readonly string[] {
  return random.chance(probability) ? [draw()] : [];
}

const ODD_INTEGERS: readonly string[] = [
  '10',
  '100',
  '1000',
  '0',
  '-1',
  '',
  'abc',
  '+7',
  '007',
  '%2B7',
  '1.5',
  '9'.repeat(20),
];
const ODD_NAMES: readonly string[] = [
  '',
  ' ',
  '-',
  '--title',
  'titel',
  'foo',
  'status__foo',
  'title=',
  '__proto__',
  'ob_id__',
  'projects__title',
];
const ODD_IDS: readonly string[] = ['', ' ', 'abc', '1.5', '-1', '+2', '3.00', '\0', '007', '9'.repeat(20), '1e3'];
/** No record has a key with one of these names. */
const ODD_KEYS: readonly string[] = [
  'nope',
  'titel',
  'ob_idd',
  'title__x',
  'naïve!',
  'a=b',
  '',
  ' ',
  '\u{1f600}',
  'x'.repeat(400),
];

function randomInteger(random: Random): string {
  return random.chance(0.85) ? String(random.integer(1, 6)) : random.pick(ODD_INTEGERS);
}

/** A list of names, with unescaped commas. */
function namesOf(random: Random, most: number, one: () => string): string {
  const names = random.several(1, most, one).join(random.chance(0.1) ? ' , ' : ',');
  return encode(names, '+').replaceAll('%2C', ',');
}

/** A walk to a value, mostly one that a record has at most once, sometimes through links or to a year. */
function randomField({ random, collection }: Drawing): string {
  if (random.chance(0.06)) return random.pick(ODD_NAMES);
  const roots = collection.fields.filter(({ kind }) => kind !== 'opaque');
  const fields = random.chance(0.5) ? roots.filter(isToOne) : roots;
  const path = randomFieldPath(random, fields, random.chance(0.4) ? fieldsBehind : fieldsWithin);
  const year = random.chance(0.1) ? ['year'] : [];
  return [...path.map((field) => field.name), ...year].join('__');
}

/** A walk to a link, mostly; with a link that follows it in every third. */
function randomLink({ random, collection }: Drawing): string {
  if (random.chance(0.1)) return random.pick(ODD_NAMES);
  const path = randomFieldPath(random, collection.fields, random.chance(0.5) ? fieldsBehind : fieldsWithin);
  const links = path.findLastIndex((field) => 'to' in field);
  const walk = links < 0 || random.chance(0.1) ? path : path.slice(0, links + 1);
  return walk.map((field) => field.name).join('__');
}

function fieldsWithin(field: Field | undefined): readonly Field[] {
  return field?.kind === 'record' || field?.kind === 'records' ? field.fields : [];
}

/** The members of an embedded record, or the documented fields of the record that a link points at. */
function fieldsBehind(field: Field | undefined): readonly Field[] {
  const fields = field && 'to' in field ? (collectionNamed(field.to)?.fields ?? []) : fieldsWithin(field);
  return fields.filter(({ kind }) => kind !== 'opaque');
}

function isToOne({ kind }: Field): boolean {
  return kind === 'scalar' || kind === 'link' || kind === 'record';
}

/** Top-level keys of records: known ones, keys that are not fields, unknown and nearly known names. */
function randomKeys({ random, collection, model }: Drawing): string {
  const own = model?.kind === 'object' ? model.members.map(([key]) => key) : [];
  const known = [...collection.fields.map(({ name }) => name), ...own, collection.idField];
  const name = (): string => {
    if (random.chance(0.2)) return randomField({ random, collection, model });
    return random.chance(0.9) ? random.pick(known) : random.pick(ODD_KEYS);
  };
  const names = random.several(0, random.chance(0.03) ? 60 : 6, name);
  const spelled = names.map((name) => (random.chance(0.05) ? ` ${name} ` : name));
  return spelled.map((name) => encode(name, '+')).join(random.chance(0.1) ? '%2C' : ',');
}

function idOf(model: Json | undefined): string {
  const id = memberOf(model, 'ob_id') ?? memberOf(model, 'id');
  return id?.kind === 'number' ? id.token : '3';
}

/** Mostly a box, with edges that boxes of the data have too; some cross the date line, some are invalid. */
function randomBox(random: Random): string {
  if (random.chance(0.1))
    return random.pick(['', '1,2,3', '1,2,3,4,5', 'a,b,c,d', '-181,0,1,1', '0,5,1,4', '0,0,0,91']);
  const [south, north] = [latitude(random), latitude(random)].toSorted((a, b) => a - b);
  return [longitude(random), south, longitude(random), north].join(random.chance(0.1) ? '%2C+' : ',');
}

function longitude(random: Random): number {
  return random.chance(0.2) ? random.pick([-180, 0, 180]) : random.integer(-1800, 1800) / 10;
}

function latitude(random: Random): number {
  return random.chance(0.2) ? random.pick([-90, 0, 90]) : random.integer(-900, 900) / 10;
}

function randomInterval(random: Random): string {
  if (random.chance(0.1)) {
    return random.pick(['', '..', '../..', '/2003-01-01', '2003', '2004-01-01/2003-01-01', '2003-01-01/2004-01-01/..']);
  }
  const [start, end] = [instant(random), instant(random)].toSorted();
  const form = random.integer(0, 3);
  return form === 0 ? start! : form === 1 ? `../${end}` : form === 2 ? `${start}/..` : `${start}/${end}`;
}

function instant(random: Random): string {
  const day = `${random.integer(1990, 2025)}-0${random.integer(1, 9)}-${random.pick(['01', '15', '28'])}`;
  return random.chance(0.6) ? day : `${day}T${random.pick(['00:00:00', '06:30:00Z', '23:59:59.999999'])}`;
}

/** Words and parts of words of the record that the request is drawn from, and others. */
function randomSearch({ random, model }: Drawing): string {
  if (random.chance(0.1)) return encode(random.pick(ODD_SEARCHES), '+');
  const names = ['title', 'abstract', 'keywords', 'name', 'lastName'];
  const texts = names.flatMap((name) => {
    const value = memberOf(model, name);
    return value?.kind === 'string' ? [value.value] : [];
  });
  const words = texts
    .join(' ')
    .split(/[\s"]+/)
    .filter((word) => word !== '');
  const word = (): string => {
    const whole = words.length === 0 || random.chance(0.15) ? random.pick(WORDS) : random.pick(words);
    const form = random.integer(0, 5);
    if (form === 0) return `${whole}s`;
    if (form === 1) return whole.toUpperCase();
    if (form === 2) return whole.slice(0, random.integer(1, 5));
    if (form === 3) return whole.normalize('NFD');
    return form === 4 && words.length > 1 ? `"${words[0]} ${words[1]}"` : whole;
  };
  return encode(random.several(1, 3, word).join(random.chance(0.1) ? '  ' : ' '), '+');
}

const ODD_SEARCHES: readonly string[] = [
  '',
  ' ',
  '""',
  '"',
  '\0',
  's',
  'es',
  'ice ice',
  'a b c d e f g h i j k l m n o p q',
];
const WORDS: readonly string[] = [
  'ice',
  'seas',
  'temperature',
  'a',
  'É',
  'ÅNGSTRÖM',
  'straße',
  '\u0301',
  '5',
  'boxes',
  '.',
];
