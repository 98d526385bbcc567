// The vocabulary in which the catalogue is declared: scalars, links, embedded records and collections.
// Plain data only: no behaviour, no derived values. Read by everything that derives from the declaration.

/**
 * The type of a scalar value. `integer`, `float` and `boolean` are JSON numbers and booleans; `text`, `date` and
 * `dateTime` are JSON strings (spec 2.3 to 2.10). A misfit is served but does not fit: a text that is not a date, or in
 * open collections any value of another type (A150).
 */
export type ScalarType = 'integer' | 'float' | 'text' | 'boolean' | 'date' | 'dateTime';

/** A scalar field: one JSON value per record. */
export interface ScalarField {
  readonly kind: 'scalar';
  readonly name: string;
  readonly type: ScalarType;
  readonly nullable: boolean;
  /** Values seen in public documents: for docs and the generator, never enforced. */
  readonly values?: readonly string[];
}

/** A to-one relation by link: a string `{base_url}/api/v3/<to>/<id>/?format=api` (spec 2.2), or null. */
export interface LinkField {
  readonly kind: 'link';
  readonly name: string;
  readonly to: string;
  readonly nullable: boolean;
}

/** A to-many relation by links: an array of link strings. */
export interface LinksField {
  readonly kind: 'links';
  readonly name: string;
  readonly to: string;
}

/** A to-one embedded record: one JSON object. */
export interface RecordField {
  readonly kind: 'record';
  readonly name: string;
  readonly fields: readonly Field[];
  /** The member that is its id; a field inferred from data may have none. */
  readonly idField?: string;
}

/** A to-many embedded record: an array of JSON objects. */
export interface RecordsField {
  readonly kind: 'records';
  readonly name: string;
  readonly fields: readonly Field[];
  readonly idField?: string;
}

/** An array of scalars. */
export interface ScalarsField {
  readonly kind: 'scalars';
  readonly name: string;
  readonly type: ScalarType;
}

/** An array whose element shape the specification does not show: any JSON array, served, never a column. */
export interface OpaqueField {
  readonly kind: 'opaque';
  readonly name: string;
}

/**
 * One field of a collection or of an embedded record. `hasMisfits` is set only on served fields: some values do not fit
 * (A150).
 */
export type Field = (ScalarField | LinkField | LinksField | RecordField | RecordsField | ScalarsField | OpaqueField) & {
  readonly hasMisfits?: true;
};

/** An API version prefix, `/api/<version>/` (spec 9). */
export type Version = 'v2' | 'v3';

/** One collection of the root view (spec 2.1). */
export interface Collection {
  /** The spelling in the root view and in links. */
  readonly name: string;
  /** The spelling of the table in spec 4.1. */
  readonly documentedPath: string;
  readonly title: string;
  readonly versions: readonly Version[];
  readonly idField: string;
  /**
   * An open collection accepts any JSON object with an integer id. Its other fields keep their types, but accept any
   * value (A150).
   */
  readonly open: boolean;
  /** The documented fields. */
  readonly fields: readonly Field[];
  /** The documented filters (spec 4.3), as top-level field names. */
  readonly filters: readonly string[];
  readonly source: string;
}
