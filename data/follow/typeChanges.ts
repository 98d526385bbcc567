// Inferred types that differ from those of the generation before, and the records that caused it: filters that worked
// before may be refused now.
import { parseInstant } from '../../engine/query/instant.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { Field } from '../../engine/schema/types.ts';
import { indexedText, isRecord, type NumberToken, parsedJson } from '../../engine/snapshot/compareRecords.ts';
import { RECORDS, runPath, sectionName } from '../../engine/snapshot/sections.ts';
import { metadataIn } from '../import/earlier.ts';
import { type DifferingField, differingFields, typeText } from '../import/fields.ts';
import { OperationError } from '../operationError.ts';
import { SectionFile } from '../store/sectionFile.ts';

/**
 * A sentence for each inferred type that differs between two snapshot files; none if one of them is damaged. Throws
 * OperationError `file`. Cost: their metadata; a pass over the records of each collection that has such a type.
 */
export function typeChanges(before: string, after: string): readonly string[] {
  const [old, young] = [new SectionFile(before), new SectionFile(after)];
  try {
    const [oldFields, youngFields] = [metadataIn(old).fields, metadataIn(young).fields];
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
      yield parsedJson(bytes) as Json;
      start = end;
    }
  }
}

/** The first record with a value that does not fit, by the keys of those fields that have one. */
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
  if (Array.isArray(value)) return value.flatMap((each) => valuesAt(each, [name, ...rest]));
  return isRecord(value) ? valuesAt(value[name], rest) : [];
}

/** Whether a value, or an element of an array, has the type of a field. */
function fits(field: Field, value: unknown, isElement = false): boolean {
  if (value === null || value === undefined) return true;
  const isList = !isElement && (field.kind === 'links' || field.kind === 'scalars' || field.kind === 'records');
  if (isList) return Array.isArray(value) && value.every((one) => fits(field, one, true));
  if ('fields' in field) return isRecord(value);
  const type = 'type' in field ? field.type : 'link';
  const text = indexedText({ type, to: 'to' in field ? field.to : undefined }, value, false);
  if (text === undefined || (type !== 'date' && type !== 'dateTime')) return text !== undefined;
  return !Number.isNaN(parseInstant(text)) && (type === 'dateTime' || text.length === '2016-05-04'.length);
}
