// What a client asks for, as plain data: which records of a collection (conditions), which page of them and in which
// shape, and what of its query was wrong or without effect. Types only; parse.ts makes it, plan.ts plans it.
import type { Parameter } from './form.ts';
import type { Problem } from './problems.ts';
import type { Operand } from './values.ts';

/**
 * What decides how queries are read, most of it settings (A19, A27, A29, A33, A68, A69). `limitMax` undefined: no upper
 * bound. `exported`: the export that is made where the query names no format (A51).
 */
export interface QueryOptions {
  readonly limitDefault: number;
  readonly limitMax: number | undefined;
  readonly isStrict: boolean;
  readonly filterErrors: 'fail' | 'empty' | 'ignore';
  readonly filters: 'all' | 'documented';
  readonly mayExplain?: boolean;
  readonly pinsWalks?: boolean;
  readonly exported?: ExportFormat;
}

/** The formats that give all rows where no limit is set, without an envelope (A62). */
export type ExportFormat = 'ndjson' | 'csv' | 'parquet';

/** One filter, ready to be planned. `key` is the name as the client wrote it, decoded; `path` the field's names. */
export interface Condition {
  readonly key: string;
  readonly path: readonly string[];
  readonly lookup: string;
  readonly isNegated: boolean;
  readonly operand: Operand;
}

/** One key of an order: a scalar's path, or that of a to-one relation, which stands for its id. */
export interface OrderKey {
  readonly path: readonly string[];
  readonly isDescending: boolean;
}

/** A facet: its name as the client wrote it, and the names it consists of. */
export interface Facet {
  readonly name: string;
  readonly path: readonly string[];
}

/** A name that has no effect: a parameter, or a name inside the value of one. */
export type IgnoredName = string | readonly [parameter: string, name: string];

/**
 * Which part of a list is shown, and in which shape. `order` is empty where it is by id. `after`: only records with a
 * larger id are shown. `keys` are the top-level keys that records are cut to, undefined for whole records. `format` is
 * undefined where none is named; `exported` is the export to make, undefined for JSON, which is `isIndented`
 * for people. Of a single record only these four say something.
 */
export interface Page {
  readonly order: readonly OrderKey[];
  readonly after: number | undefined;
  readonly offset: number;
  readonly limit: number;
  readonly facets: readonly Facet[];
  readonly keys: ReadonlySet<string> | undefined;
  readonly format: string | undefined;
  readonly exported: ExportFormat | undefined;
  readonly isIndented: boolean;
}

/**
 * A parsed query. `parameters` are all decoded pairs in query order. `isEmpty` where a bad filter makes the list empty
 * (A29, `filterErrors` being `empty`). `isExplained` where not the list is wanted but how it is found (A68).
 * `generation` is the one that the request names (A69). `ignored` are the names without effect, once each, in query
 * order. With `problems`, in query order too, the answer is a 400 that lists them.
 */
export interface Ask {
  readonly parameters: readonly Parameter[];
  readonly page: Page;
  readonly conditions: readonly Condition[];
  readonly isEmpty: boolean;
  readonly isExplained: boolean;
  readonly generation: string | undefined;
  readonly ignored: readonly IgnoredName[];
  readonly problems: readonly Problem[];
}
