// Infers fields from decoded keys: the fields that the data has in addition to the documented ones, with types inferred
// from all values. The same data always gives the same fields, however it was cut into runs.
import { startOfPart } from '../../engine/bits/lists.ts';
import { PLACEHOLDER } from '../../engine/column/records.ts';
import { decodeText, type Texts } from '../../engine/column/sort.ts';
import { parseInstant } from '../../engine/query/decimal.ts';
import { collectionNamed } from '../../engine/schema/catalogue.ts';
import type { Collection, Field, ScalarType } from '../../engine/schema/types.ts';
import { linkEnd, LINK_SUFFIX, linkPrefix } from './batch.ts';
import { SCALAR_KIND, type ShapeKind } from './shape.ts';

/** The type of an inferred column: a scalar's, or links to one collection. */
export type InferredType = { readonly type: ScalarType } | { readonly type: 'link'; readonly to: string };

/** The evidence about a collection: the structure of each key by path, and the type of each column by path. */
export interface FieldEvidence {
  readonly kinds: ReadonlyMap<string, ShapeKind>;
  readonly typeOf: (path: string) => InferredType;
}

/** Combines two observations of the same key. Commutative and associative. */
export function combineKinds(a: ShapeKind, b: ShapeKind): ShapeKind {
  if (a === b || b === 'unknown') return a;
  if (a === 'unknown') return b;
  const isArray = (kind: ShapeKind): boolean => kind === 'table' || kind === 'elements';
  if (a === 'empty' && isArray(b)) return b;
  return b === 'empty' && isArray(a) ? a : 'mixed';
}

/** The fields of a collection as its data has them: the documented ones in their order, then the others by name. */
export function inferFields(collection: Collection, evidence: FieldEvidence): readonly Field[] {
  return extendFields(collection.name, collection.fields, evidence);
}

function extendFields(path: string, documented: readonly Field[], evidence: FieldEvidence): readonly Field[] {
  const known = new Set(documented.map(({ name }) => name));
  const all: Field[] = documented.map((field) => addExtras(`${path}/${field.name}`, field, evidence));
  for (const name of childPaths(path, evidence).toSorted(compareCodePoints)) {
    if (known.has(name)) continue;
    const field = inferField(`${path}/${name}`, evidence);
    if (field) all.push(field);
  }
  return all;
}

/** A documented embedded record may also have extra keys. */
function addExtras(path: string, field: Field, evidence: FieldEvidence): Field {
  if (field.kind !== 'record' && field.kind !== 'records') return field;
  return { ...field, fields: extendFields(path, field.fields, evidence) };
}

/** The field that the data has at a path: an empty text field if it has only nulls or empty arrays. */
function inferField(path: string, evidence: FieldEvidence): Field | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  switch (evidence.kinds.get(path)) {
    case 'column': {
      const inferred = evidence.typeOf(path);
      return inferred.type === 'link'
        ? { kind: 'link', name, to: inferred.to, nullable: true }
        : { kind: 'scalar', name, type: inferred.type, nullable: true };
    }
    case 'elements': {
      const inferred = evidence.typeOf(path);
      return inferred.type === 'link'
        ? { kind: 'links', name, to: inferred.to }
        : { kind: 'scalars', name, type: inferred.type };
    }
    case 'record':
      return { kind: 'record', name, ...inferRecord(extendFields(path, [], evidence)) };
    case 'table':
      return { kind: 'records', name, ...inferRecord(extendFields(path, [], evidence)) };
    case 'unknown':
      return { kind: 'scalar', name, type: 'text', nullable: true };
    case 'empty':
      return { kind: 'scalars', name, type: 'text' };
    default:
      return undefined;
  }
}

/** An embedded record has an id if `ob_id` is an integer or a link. */
function inferRecord(fields: readonly Field[]): { fields: readonly Field[]; idField?: string } {
  const id = fields.find(({ name }) => name === 'ob_id');
  const isId = id?.kind === 'link' || (id?.kind === 'scalar' && id.type === 'integer');
  return isId ? { fields, idField: 'ob_id' } : { fields };
}

function childPaths(path: string, { kinds }: FieldEvidence): string[] {
  const prefix = `${path}/`;
  return [...kinds.keys()]
    .filter((key) => key.startsWith(prefix) && !key.includes('/', prefix.length))
    .map((key) => key.slice(prefix.length));
}

function compareCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** A field with its filter key, and the field with that key in another list. */
export interface DifferingField {
  readonly key: string;
  readonly field: Field;
  readonly other: Field | undefined;
}

/** The fields that another list does not have, or has with another type. */
export function differingFields(
  fields: readonly Field[],
  others: readonly Field[],
  above = '',
): readonly DifferingField[] {
  return fields.flatMap((field) => {
    const other = others.find(({ name }) => name === field.name);
    const key = above + field.name;
    const differences = other && typeText(other) === typeText(field) ? [] : [{ key, field, other }];
    if (!('fields' in field)) return differences;
    return [
      ...differences,
      ...differingFields(field.fields, other && 'fields' in other ? other.fields : [], `${key}__`),
    ];
  });
}

/** The type of a field in reports: `text`, `links to parties`. */
export function typeText(field: Field): string {
  if (field.kind === 'scalar') return field.type;
  if (field.kind === 'scalars') return `${field.kind} of ${field.type}`;
  return 'to' in field ? `${field.kind} to ${field.to}` : field.kind;
}

/**
 * The type of an inferred column over all its non-null values (A54): link if all are own links to one collection; date
 * or date-time if all match the grammar; then integer, float, boolean; else text. `kinds` is the sum of their
 * `SCALAR_KIND`s, `sources` their texts. Cost: up to two passes over the texts, until one decides.
 */
export function inferType(kinds: number, sources: readonly Texts[]): InferredType {
  if (kinds === SCALAR_KIND.integer) return { type: 'integer' };
  if (kinds !== 0 && (kinds & ~(SCALAR_KIND.integer | SCALAR_KIND.float)) === 0) return { type: 'float' };
  if (kinds === SCALAR_KIND.boolean) return { type: 'boolean' };
  return kinds === SCALAR_KIND.text ? inferTextType(sources.filter(({ ends }) => ends.length > 0)) : { type: 'text' };
}

function inferTextType(sources: readonly Texts[]): InferredType {
  const to = inferTarget(sources);
  if (to !== undefined) return { type: 'link', to };
  // The first text usually decides.
  const areTimes = sources.every((texts) =>
    texts.ends.every((_, i) => !Number.isNaN(parseInstant(decodeText(texts, i)))),
  );
  if (!areTimes) return { type: 'text' };
  const areDays = sources.every(({ ends }) => ends.every((end, i) => end - startOfPart(ends, i) === DAY_BYTES));
  return { type: areDays ? 'date' : 'dateTime' };
}

/** Bytes of a day such as `2016-05-04`. */
const DAY_BYTES = 10;
const LINK_START = new RegExp(`^${PLACEHOLDER.replace(/[{}]/g, '\\$&')}/api/v3/([a-z]+)/`);
const ID_DIGITS_MAX = 16;

/** The collection that all texts are own links to, if there is one. Decodes only the first text. */
function inferTarget(sources: readonly Texts[]): string | undefined {
  const [, to = ''] = LINK_START.exec(sources[0] ? decodeText(sources[0], 0) : '') ?? [];
  if (!collectionNamed(to)) return undefined;
  const prefix = linkPrefix(to);
  const bytesMax = prefix.length + ID_DIGITS_MAX + LINK_SUFFIX.length;
  const areLinks = sources.every(({ bytes, ends }) =>
    ends.every((end, i) => {
      const start = startOfPart(ends, i);
      return end - start <= bytesMax && linkEnd(bytes, prefix, start) === end;
    }),
  );
  return areLinks ? to : undefined;
}
