// Reports inferred types that differ from those of the previous generation, and the records that caused it: filters
// that worked before may be refused now.
import { isObject } from '../../engine/bits/json.ts';
import { PLACEHOLDER } from '../../engine/column/records.ts';
import { SPEC_LINK_END } from '../../engine/column/served.ts';
import { parseInstant } from '../../engine/query/decimal.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { Field, ScalarType } from '../../engine/schema/types.ts';
import { RECORDS, runPath, sectionName } from '../../engine/snapshot/sections.ts';
import { readRequiredMetadata } from '../import/earlier.ts';
import { type DifferingField, differingFields, typeText } from '../import/fields.ts';
import { OperationError } from '../operationError.ts';
import { SectionFile } from '../store/sectionFile.ts';

/**
 * A sentence for each inferred type that differs between two snapshot files; none if one of them is damaged. Throws
 * OperationError `file`. Cost: reading their metadata, and a pass over the records of each collection with such a type.
 */
export function typeChanges(before: string, after: string): readonly string[] {
  const [old, young] = [new SectionFile(before), new SectionFile(after)];
  try {
    const [oldFields, youngFields] = [readRequiredMetadata(old).fields, readRequiredMetadata(young).fields];
    return COLLECTIONS.flatMap(({ name, idField }, i) => {
      const changes = differingFields(oldFields[i]!.fields, youngFields[i]!.fields);
      const causes = changes.length > 0 ? causesIn(recordsIn(young, name), changes) : undefined;
      return changes.map(({ key, field, other }) => {
        const record = causes?.get(key);
        const cause = record ? `of record ${(record[idField] as NumberToken).text}` : 'records were changed or deleted';
        const types = `from ${typeText(field)} to ${other ? typeText(other) : 'no type'}`;
        return `${name}.${key}: the inferred type changed ${types} because ${cause}`;
      });
    });
  } catch (error) {
    if (error instanceof OperationError && error.code === 'snapshot') return [];
    throw error;
  } finally {
    old.close();
    young.close();
  }
}

type Json = Readonly<Record<string, unknown>>;

function* recordsIn(file: SectionFile, name: string): Generator<Json> {
  for (let i = 0; ; i++) {
    const path = runPath(RECORDS, name, i);
    const section = file.section(sectionName(RECORDS, 'bytes', path));
    if (!section) return;
    let start = 0;
    for (const end of file.array(RECORDS, 'ends', path)) {
      const bytes = Buffer.alloc(end - 1 - start);
      file.read(section, start, bytes);
      yield recordIn(bytes, file.file);
      start = end;
    }
  }
}

/** A number token of a record: 7 is an integer and 7.0 is not. */
class NumberToken {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

function isRecord(value: unknown): value is Json {
  return isObject(value) && !(value instanceof NumberToken);
}

/** JSON.parse with the source texts of primitive values (ES2026), which this release's types do not have yet. */
type ParseWithSource = (
  text: string,
  revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown;
const parseWithSource = JSON.parse as ParseWithSource;

function recordIn(bytes: Buffer, file: string): Json {
  try {
    return parseWithSource(bytes.toString(), (_, value, { source = '' }) =>
      typeof value === 'number' ? new NumberToken(source) : value,
    ) as Json;
  } catch (error) {
    throw new OperationError('snapshot', `${file}: a record is not JSON`, error);
  }
}

/** For each field that has one, the first record with a value that does not fit, by the field's key. */
function causesIn(records: Iterable<Json>, fields: readonly DifferingField[]): ReadonlyMap<string, Json> {
  const causes = new Map<string, Json>();
  for (const record of records) {
    for (const { key, field } of fields) {
      if (causes.has(key) || valuesAt(record, key.split('__')).every((value) => fits(field, value))) continue;
      if (causes.set(key, record).size === fields.length) return causes;
    }
  }
  return causes;
}

function valuesAt(value: unknown, [name, ...rest]: readonly string[]): readonly unknown[] {
  if (name === undefined) return [value];
  if (Array.isArray(value)) return value.flatMap((element) => valuesAt(element, [name, ...rest]));
  return isRecord(value) ? valuesAt(value[name], rest) : [];
}

/** Whether a value, or an element of an array, has the type of a field. */
function fits(field: Field, value: unknown, isElement = false): boolean {
  if (value === null || value === undefined) return true;
  const isList = !isElement && (field.kind === 'links' || field.kind === 'scalars' || field.kind === 'records');
  if (isList) return Array.isArray(value) && value.every((element) => fits(field, element, true));
  if ('fields' in field) return isRecord(value);
  if ('to' in field) return isLinkTo(field.to, value);
  return 'type' in field && isOfType(field.type, value);
}

/** Characters of a day, `2016-05-04`. */
const DAY_LENGTH = 10;

function isOfType(type: ScalarType, value: unknown): boolean {
  switch (type) {
    case 'integer':
      return value instanceof NumberToken && /^-?\d+$/.test(value.text);
    case 'float':
      return value instanceof NumberToken;
    case 'boolean':
      return typeof value === 'boolean';
    case 'date':
    case 'dateTime': {
      const isLong = type === 'dateTime';
      return typeof value === 'string' && !Number.isNaN(parseInstant(value)) && (isLong || value.length === DAY_LENGTH);
    }
    case 'text':
      // Values of several types are texts (A54).
      return !Array.isArray(value) && !isRecord(value);
  }
}

function isLinkTo(collection: string, value: unknown): boolean {
  const start = `${PLACEHOLDER}/api/v3/${collection}/`;
  if (typeof value !== 'string' || !value.startsWith(start) || !value.endsWith(SPEC_LINK_END)) return false;
  return /^\d+$/.test(value.slice(start.length, -SPEC_LINK_END.length));
}
