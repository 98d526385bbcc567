// From the keys that decoding met to fields: what the data has beside the declaration, with types inferred from all
// values. The same data always gives the same fields, in whatever runs it was decoded.
import { startOfPart } from '../../engine/bits/lists.ts';
import { PLACEHOLDER } from '../../engine/column/records.ts';
import type { Texts } from '../../engine/column/sort.ts';
import { parseInstant } from '../../engine/query/instant.ts';
import { collectionNamed } from '../../engine/schema/catalogue.ts';
import type { Collection, Field, ScalarType } from '../../engine/schema/types.ts';
import { endOfLink, linkPrefix, LINK_SUFFIX } from '../decode/link.ts';
import { SCALAR_KIND, type ShapeKind } from '../decode/shape.ts';

/** The type of an inferred column: a scalar's, or of links to one collection. */
export type InferredType = { readonly type: ScalarType } | { readonly type: 'link'; readonly to: string };

/** What was learnt of a collection: the structure of each key by path, and the type of each column by path. */
export interface FieldEvidence {
  readonly kinds: ReadonlyMap<string, ShapeKind>;
  readonly typeOf: (path: string) => InferredType;
}

/** What two sightings of one key together say of it. Commutative and associative. */
export function combined(a: ShapeKind, b: ShapeKind): ShapeKind {
  if (a === b || b === 'unknown') return a;
  if (a === 'unknown') return b;
  const isArray = (kind: ShapeKind): boolean => kind === 'table' || kind === 'elements';
  if (a === 'empty' && isArray(b)) return b;
  return b === 'empty' && isArray(a) ? a : 'mixed';
}

/**
 * The fields of a collection as its data has them: the declared ones in their order, then those only documents show,
 * then those only the data has, by name. A field that only documents show is known, and null in every record.
 */
export function fieldsInRecords(collection: Collection, evidence: FieldEvidence): readonly Field[] {
  return extended(collection.name, collection.fields, collection.shown, evidence);
}

function extended(
  path: string,
  declared: readonly Field[],
  shown: readonly Field[],
  evidence: FieldEvidence,
): readonly Field[] {
  const known = new Set(declared.map(({ name }) => name));
  const all: Field[] = declared.map((field) => withExtras(`${path}/${field.name}`, field, evidence));
  for (const field of shown) {
    known.add(field.name);
    const isMixed = evidence.kinds.get(`${path}/${field.name}`) === 'mixed';
    if (!isMixed) all.push(inferredField(`${path}/${field.name}`, field, evidence) ?? field);
  }
  for (const name of childrenOf(path, evidence).toSorted(byCodePoint)) {
    if (known.has(name)) continue;
    const field = inferredField(`${path}/${name}`, undefined, evidence);
    if (field) all.push(field);
  }
  return all;
}

/** A declared embedded record may have extra keys too. */
function withExtras(path: string, field: Field, evidence: FieldEvidence): Field {
  if (field.kind !== 'record' && field.kind !== 'records') return field;
  return { ...field, fields: extended(path, field.fields, [], evidence) };
}

/**
 * The field that the data shows at a path; where it shows only nulls or empty arrays, `shown` or a text without values.
 */
function inferredField(path: string, shown: Field | undefined, evidence: FieldEvidence): Field | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const inner = shown && 'fields' in shown ? shown.fields : [];
  switch (evidence.kinds.get(path)) {
    case 'column': {
      const inferred = evidence.typeOf(path);
      return inferred.type === 'link'
        ? { kind: 'link', name, to: inferred.to, nullable: true }
        : { kind: 'scalar', name, type: widened(inferred.type, shown), nullable: true };
    }
    case 'elements': {
      const inferred = evidence.typeOf(path);
      return inferred.type === 'link'
        ? { kind: 'links', name, to: inferred.to }
        : { kind: 'scalars', name, type: inferred.type };
    }
    case 'record':
      return { kind: 'record', name, ...embedded(extended(path, [], inner, evidence)) };
    case 'table':
      return { kind: 'records', name, ...embedded(extended(path, [], inner, evidence)) };
    case 'unknown':
      return shown ?? { kind: 'scalar', name, type: 'text', nullable: true };
    case 'empty':
      return shown ?? { kind: 'scalars', name, type: 'text' };
    default:
      return undefined;
  }
}

/** The type that documents show where it is but wider: whole numbers are floats there, and days times. */
function widened(inferred: ScalarType, shown: Field | undefined): ScalarType {
  const type = shown?.kind === 'scalar' ? shown.type : inferred;
  const isWider = (inferred === 'integer' && type === 'float') || (inferred === 'date' && type === 'dateTime');
  return isWider ? type : inferred;
}

/** An embedded record has an id where it has a number or a link of that name. */
function embedded(fields: readonly Field[]): { fields: readonly Field[]; idField?: string } {
  const id = fields.find(({ name }) => name === 'ob_id');
  const isId = id?.kind === 'link' || (id?.kind === 'scalar' && id.type === 'integer');
  return isId ? { fields, idField: 'ob_id' } : { fields };
}

function childrenOf(path: string, { kinds }: FieldEvidence): string[] {
  const prefix = `${path}/`;
  return [...kinds.keys()]
    .filter((key) => key.startsWith(prefix) && !key.includes('/', prefix.length))
    .map((key) => key.slice(prefix.length));
}

function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/**
 * The fields that are not `known` with their types, by path: `place__name text`, `owners links to parties`, `startTime
 * text, not dateTime throughout`.
 */
export function inferredTypes(known: readonly Field[], fields: readonly Field[], prefix = ''): readonly string[] {
  return fields.flatMap((field) => {
    const same = known.find(({ name }) => name === field.name);
    const path = prefix + field.name;
    const [type, shown] = [typeText(field), same && typeText(same)];
    const own = shown === type ? [] : [`${path} ${type}${shown === undefined ? '' : `, not ${shown} throughout`}`];
    if (!('fields' in field)) return own;
    const inner = same && 'fields' in same ? same.fields : [];
    return [...own, ...inferredTypes(inner, field.fields, `${path}__`)];
  });
}

function typeText(field: Field): string {
  if (field.kind === 'scalar') return field.type;
  if (field.kind === 'scalars') return `${field.kind} of ${field.type}`;
  return 'to' in field ? `${field.kind} to ${field.to}` : field.kind;
}

/**
 * The type of an inferred column over all its non-null values (A54): link where all are own links to one collection,
 * date or date-time where all match the grammar, then integer, float, boolean, else text. `kinds` is the sum of their
 * `SCALAR_KIND`s, `sources` their texts. Cost: two looks at each text, until one decides.
 */
export function inferType(kinds: number, sources: readonly Texts[]): InferredType {
  if (kinds === SCALAR_KIND.integer) return { type: 'integer' };
  if (kinds !== 0 && (kinds & ~(SCALAR_KIND.integer | SCALAR_KIND.float)) === 0) return { type: 'float' };
  if (kinds === SCALAR_KIND.boolean) return { type: 'boolean' };
  return kinds === SCALAR_KIND.text ? inferTextType(sources.filter(({ ends }) => ends.length > 0)) : { type: 'text' };
}

function inferTextType(sources: readonly Texts[]): InferredType {
  const to = linkedCollection(sources);
  if (to !== undefined) return { type: 'link', to };
  // Most are told by their first text.
  const areTimes = sources.every((texts) => texts.ends.every((_, i) => !Number.isNaN(parseInstant(textOf(texts, i)))));
  if (!areTimes) return { type: 'text' };
  const areDays = sources.every(({ ends }) => ends.every((end, i) => end - startOfPart(ends, i) === DAY_BYTES));
  return { type: areDays ? 'date' : 'dateTime' };
}

/** Bytes of a day, `2016-05-04`. */
const DAY_BYTES = 10;
const LINK_START = new RegExp(`^${PLACEHOLDER.replace(/[{}]/g, '\\$&')}/api/v3/([a-z]+)/`);
const ID_DIGITS_MAX = 16;

/** The collection to whose records all texts are own links, without a text made of any but the first. */
function linkedCollection(sources: readonly Texts[]): string | undefined {
  const [, to = ''] = LINK_START.exec(sources[0] ? textOf(sources[0], 0) : '') ?? [];
  if (!collectionNamed(to)) return undefined;
  const prefix = linkPrefix(to);
  const bytesMax = prefix.length + ID_DIGITS_MAX + LINK_SUFFIX.length;
  const areLinks = sources.every(({ bytes, ends }) =>
    ends.every((end, i) => {
      const start = startOfPart(ends, i);
      return end - start <= bytesMax && endOfLink(bytes, prefix, start) === end;
    }),
  );
  return areLinks ? to : undefined;
}

// A byte order mark is part of a text: without this, one in front of a date would be read as that date.
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

function textOf({ bytes, ends }: Texts, i: number): string {
  return DECODER.decode(bytes.subarray(startOfPart(ends, i), ends[i]));
}
