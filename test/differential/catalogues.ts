// Random small catalogues from the declaration: every field kind, shared values, gaps in ids, odd spellings of JSON.
// Seeded. Produces NDJSON texts, which both the oracle and the server read.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { Collection, Field, ScalarField } from '../../engine/schema/types.ts';
import type { Random } from '../support/random.ts';
import type { Json } from './json.ts';
import { DATES, DATE_TIMES, INTEGERS, NUMBER_TOKENS, TEXTS } from './texts.ts';
import { writeWildly } from './wild.ts';

/** NDJSON texts by collection name; a missing collection has no file. */
export type Catalogue = ReadonlyMap<string, string>;

const NULL: Json = { kind: 'null' };
/** The probability that a record lacks a declared key, which then counts as null. */
const MISSING = 0.03;
/** The probability that a documented value of an open collection is drawn without regard to its type. */
const ODD = 0.12;
/** A page holds 100 records, so some collections must be longer. */
const LONG_END = 260;
const SHORT_END = 30;
/**
 * Keys of open and declared records in addition to their fields, each with values of one type, so that inference finds
 * them.
 */
const REGULAR: readonly Field[] = [
  { kind: 'scalar', name: 'note', type: 'text', nullable: true },
  { kind: 'scalar', name: 'size', type: 'integer', nullable: true },
  { kind: 'scalar', name: 'ratio', type: 'float', nullable: true },
  { kind: 'scalar', name: 'isOld', type: 'boolean', nullable: true },
  { kind: 'scalar', name: 'seenOn', type: 'date', nullable: true },
  { kind: 'link', name: 'owner', to: 'parties', nullable: true },
  { kind: 'links', name: 'owners', to: 'parties' },
  { kind: 'scalars', name: 'tags', type: 'text' },
  { kind: 'record', name: 'place', fields: [{ kind: 'scalar', name: 'name', type: 'text', nullable: true }] },
  {
    kind: 'record',
    name: 'relatedTo',
    fields: [
      { kind: 'scalar', name: 'ob_id', type: 'integer', nullable: false },
      { kind: 'scalar', name: 'short_code', type: 'text', nullable: false, values: ['ob', 'ob', 'proj', 'x'] },
    ],
  },
  {
    kind: 'records',
    name: 'people',
    fields: [
      { kind: 'scalar', name: 'ob_id', type: 'integer', nullable: false },
      { kind: 'scalar', name: 'name', type: 'text', nullable: true },
      { kind: 'links', name: 'at', to: 'platforms' },
    ],
  },
];
/** Ids of generic links, and texts that decide where they lead. */
const GENERIC_IDS: readonly string[] = ['ob_id', 'ob_ref'];
const REFERRING_KEYS: readonly string[] = ['observation.x', 'legacy2.y', 'project.z', 'project', 'Instrument.'];
const EXTRA_KEYS: readonly string[] = ['extra', 'creationDate', '__proto__', 'a b', '7', 'naïve', ''];

/** A catalogue with all kinds of collections: empty, without a file, short, longer than a page. */
export function randomCatalogue(random: Random): Catalogue {
  const texts = new Map<string, string>();
  for (const collection of COLLECTIONS) {
    if (random.chance(0.1)) continue;
    const count = random.chance(0.1) ? random.integer(100, LONG_END) : random.integer(0, SHORT_END);
    texts.set(collection.name, randomFile(random, collection, count));
  }
  return texts;
}

/** Writes a catalogue as a data set directory. Creates the directory if necessary. */
export function writeCatalogue(catalogue: Catalogue, directory: string): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of catalogue) writeFileSync(join(directory, `${name}.ndjson`), text);
}

function randomFile(random: Random, collection: Collection, count: number): string {
  // Links point at small ids: half of them must find a record.
  const ids = new Set(random.several(count, count + 1, () => random.integer(0, random.chance(0.3) ? 12 : count * 3)));
  if (random.chance(0.1)) ids.add(Number.MAX_SAFE_INTEGER);
  const ordered = random.chance(0.7) ? [...ids].sort((a, b) => a - b) : [...ids];
  const wildness = random.chance(0.5) ? 0 : 0.3;
  const lines = ordered.map((id) => writeWildly(randomRecord(random, collection, id), random, wildness));
  return lines.map((line) => `${line}\n`).join('');
}

function randomRecord(random: Random, collection: Collection, id: number): Json {
  const { idField, open } = collection;
  const missing = open ? 0.3 : MISSING;
  const fields = collection.fields.filter(({ name }) => name === idField || !random.chance(missing));
  const draw = open ? randomShown : randomField;
  const members = fields.map((field): [string, Json] => {
    return [field.name, field.name === idField ? integer(String(id)) : draw(random, field)];
  });
  for (const field of REGULAR)
    if (!fields.some(({ name }) => name === field.name) && random.chance(open ? 0.7 : 0.1))
      members.push([field.name, randomField(random, field)]);
  const extras = collection.open ? random.integer(0, 5) : random.integer(-6, 3);
  const isTaken = new Set(members.map(([name]) => name));
  const keys = new Set(Array.from({ length: Math.max(0, extras) }, () => random.pick(EXTRA_KEYS)));
  for (const key of keys) {
    if (isTaken.has(key)) continue;
    members.splice(random.integer(0, members.length + 1), 0, [key, randomJson(random, 2)]);
  }
  return { kind: 'object', members };
}

/** A documented field whose type is not enforced: sometimes the value, or a part of it, does not fit (A150). */
function randomShown(random: Random, field: Field): Json {
  if (random.chance(ODD)) return oddValue(random);
  if (field.kind === 'record') {
    return { kind: 'object', members: field.fields.map((one): [string, Json] => [one.name, randomShown(random, one)]) };
  }
  const value = randomField(random, field);
  return value.kind === 'array'
    ? array(value.items.map((item) => (random.chance(ODD) ? oddValue(random) : item)))
    : value;
}

/** Values that look like others: texts that look like numbers, invalid dates, and all kinds of JSON. */
function oddValue(random: Random): Json {
  const texts = [
    ...INTEGERS,
    ...NUMBER_TOKENS,
    ...DATE_TIMES,
    '2020-02-30T00:00:00',
    'null',
    'true',
    '{base_url}/elsewhere',
  ];
  return random.chance(0.5) ? randomJson(random, 2) : text(random.pick(texts));
}

function randomField(random: Random, field: Field): Json {
  switch (field.kind) {
    case 'scalar':
      if (field.nullable && random.chance(0.4)) return NULL;
      return randomScalar(random, field);
    case 'link':
      return field.nullable && random.chance(0.4) ? NULL : randomLink(random, field.to);
    case 'links':
      return array(random.several(0, 4, () => randomLink(random, field.to)));
    case 'record':
      return randomObject(random, field.fields);
    case 'records':
      return array(random.several(0, 4, () => randomObject(random, field.fields)));
    case 'scalars':
      return array(random.several(0, 4, () => randomScalar(random, field)));
    case 'opaque':
      return array(random.chance(0.8) ? [] : random.several(0, 3, () => randomJson(random, 2)));
  }
}

function randomObject(random: Random, fields: readonly Field[]): Json {
  const present = fields.filter(() => !random.chance(MISSING));
  return { kind: 'object', members: present.map((field): [string, Json] => [field.name, randomField(random, field)]) };
}

function randomScalar(random: Random, { name, type, values }: Pick<ScalarField, 'name' | 'type' | 'values'>): Json {
  switch (type) {
    case 'boolean':
      return { kind: 'boolean', value: random.chance(0.5) };
    case 'integer':
      return integer(
        GENERIC_IDS.includes(name) && random.chance(0.8) ? String(random.integer(0, 13)) : random.pick(INTEGERS),
      );
    case 'float':
      return integer(random.pick(NUMBER_TOKENS));
    case 'date':
      return text(random.pick(DATES));
    case 'dateTime':
      return text(random.pick(DATE_TIMES));
    case 'text':
      if (random.chance(0.01)) return text('{base_url}/elsewhere');
      if (name === 'key' && random.chance(0.7)) return text(random.pick(REFERRING_KEYS));
      return text(values && random.chance(0.7) ? random.pick(values) : randomText(random));
  }
}

/** Mostly one text of the pool, so that filters hit; sometimes two, so that contains and startswith differ. */
function randomText(random: Random): string {
  return random.chance(0.8) ? random.pick(TEXTS) : random.pick(TEXTS) + random.pick(TEXTS);
}

function randomLink(random: Random, to: string): Json {
  return text(`{base_url}/api/v3/${to}/${random.integer(0, 12)}/?format=api`);
}

function randomJson(random: Random, depth: number): Json {
  const kind = random.integer(0, depth > 0 ? 7 : 5);
  if (kind === 0) return NULL;
  if (kind === 1) return { kind: 'boolean', value: random.chance(0.5) };
  if (kind === 2) return integer(random.pick(NUMBER_TOKENS));
  if (kind === 3) return text(randomText(random));
  if (kind === 4) return randomLink(random, random.pick(COLLECTIONS.slice(0, 3)).name);
  if (kind === 5) return array(random.several(0, 3, () => randomJson(random, depth - 1)));
  const keys = [...new Set(random.several(0, 3, () => random.pick(EXTRA_KEYS)))];
  return { kind: 'object', members: keys.map((key): [string, Json] => [key, randomJson(random, depth - 1)]) };
}

function integer(token: string): Json {
  return { kind: 'number', token };
}

function text(value: string): Json {
  return { kind: 'string', value };
}

function array(items: readonly Json[]): Json {
  return { kind: 'array', items };
}
