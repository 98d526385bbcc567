// The slow twin of plan and execute: plain loops over plain values, sharing only the declaration. Values are those that
// support/index.ts takes.
import type { Collection, Field } from '../../../../engine/schema/types.ts';
import { idOfLink, type RecordValue, type Value } from '../../../support/index.ts';

/** One condition as a test states it: a path of names, a lookup and operands as read. */
export interface NaiveCondition {
  readonly path: readonly string[];
  readonly lookup: 'exact' | 'contains' | 'startswith' | 'in';
  readonly isNegated: boolean;
  readonly operands: readonly string[];
}

/** The records that match, in the order given. `baseUrl` stands for `{base_url}` at the start of texts. */
export function naiveMatches(
  collection: Collection,
  records: readonly RecordValue[],
  conditions: readonly NaiveCondition[],
  baseUrl: string,
): readonly RecordValue[] {
  const positive = conditions.filter(({ isNegated }) => !isNegated);
  const negated = conditions.filter(({ isNegated }) => isNegated);
  return records.filter(
    (record) =>
      holds(collection.fields, record, positive, baseUrl) &&
      negated.every((condition) => !holds(collection.fields, record, [condition], baseUrl)),
  );
}

/** Whether all conditions hold for one (related) record; conditions on one relation for the same related row. */
function holds(
  fields: readonly Field[],
  record: RecordValue | undefined,
  conditions: readonly NaiveCondition[],
  baseUrl: string,
): boolean {
  return fields.every((field) => {
    const own = conditions.filter(({ path }) => path[0] === field.name);
    if (own.length === 0) return true;
    const inner = own.map((condition) => ({ ...condition, path: condition.path.slice(1) }));
    return fieldHolds(field, record?.[field.name], inner, baseUrl);
  });
}

function fieldHolds(field: Field, value: Value, conditions: readonly NaiveCondition[], baseUrl: string): boolean {
  const elements = Array.isArray(value) ? (value as readonly Value[]) : [];
  const fits = (each: Value) => (condition: NaiveCondition) => valueFits(each, condition, baseUrl);
  switch (field.kind) {
    case 'scalar':
      return conditions.every(fits(value));
    case 'link':
      return conditions.every(fits(linkId(value)));
    case 'links':
      return elements.some((element) => conditions.every(fits(linkId(element))));
    case 'scalars':
      return conditions.every((condition) => elements.some((element) => fits(element)(condition)));
    case 'record':
      return holds(field.fields, value as RecordValue, withId(field.idField, conditions), baseUrl);
    case 'records':
      return elements.some((element) =>
        holds(field.fields, element as RecordValue, withId(field.idField, conditions), baseUrl),
      );
    case 'opaque':
      return false;
  }
}

/** A path that ends on a relation means its id. */
function withId(idField: string | undefined, conditions: readonly NaiveCondition[]): readonly NaiveCondition[] {
  return conditions.map((condition) =>
    condition.path.length > 0 ? condition : { ...condition, path: [idField ?? ''] },
  );
}

function linkId(value: Value): Value {
  return typeof value === 'string' ? BigInt(idOfLink(value)) : value;
}

function valueFits(value: Value, { lookup, operands }: NaiveCondition, baseUrl: string): boolean {
  if (value === null || value === undefined) return false;
  const served = `${value as string | number | bigint | boolean}`.replace(/^\{base_url\}/, baseUrl);
  if (lookup === 'contains') return served.includes(operands[0]!);
  if (lookup === 'startswith') return served.startsWith(operands[0]!);
  return operands.some((operand) => isEqual(value, served, operand));
}

function isEqual(value: Value, served: string, operand: string): boolean {
  return typeof value === 'number' || typeof value === 'bigint'
    ? BigInt(value) === BigInt(operand)
    : served === operand;
}
