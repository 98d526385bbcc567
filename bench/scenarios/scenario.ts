// A load scenario: requests, expected responses, and the control by which the cost is divided. Types only. scenarios.ts
// and callScenarios.ts have the tables; questions.ts and callCheck.ts make the requests.
import type { Who } from '../authority/authorityFiles.ts';
import type { LinkedCollection, NaiveCatalogue, NaiveRow } from './naive.ts';

/**
 * The control by which the cost of a scenario is divided. `bare`: 300 bytes. `page`: one view of as many bytes for each
 * question, the same each time, so as hot as the pages of the scenario. `floor`: one view of as many bytes that is not
 * in the cache. `scan`: one pass over all titles. `markup`: as many bytes of HTML, written from titles. `signature`:
 * one RSA-2048 signature, sent as 300 bytes. A scenario name: the cost of that, or its cost per byte with `per`,
 * because page sizes differ.
 */
export type Control =
  | 'bare'
  | 'page'
  | 'floor'
  | 'scan'
  | 'markup'
  | 'signature'
  | { readonly scenario: string; readonly per?: 'request' | 'byte' };

/**
 * How the cost of a scenario may grow with the number of records: not at all, with the logarithm, with the bytes of the
 * page, or with the scanned bytes. growth.ts has the bounds.
 */
export type Growth = 'constant' | 'logarithmic' | 'page' | 'scan';

/** Headers of a request besides Host, by name. */
export type Headers = Readonly<Record<string, string>>;

/** How often each value of a field occurs in a list, by field. */
export type Facets = Readonly<Record<string, Readonly<Record<string, number>>>>;

/**
 * The expected rows of a list: `rows` of `count`, with or without a next page, cut to `keys`, counted by `facets`. The
 * links in `expanded` are replaced by records of these collections.
 */
export interface ExpectedPage {
  readonly kind: 'page';
  readonly count: number;
  readonly hasNext: boolean;
  readonly rows: readonly NaiveRow[];
  readonly keys?: readonly string[];
  readonly facets?: Facets;
  readonly expanded?: Readonly<Record<string, LinkedCollection>>;
}

/** The expected content of a response: a text, one record, a page of a list, rows as lines, or an HTML page. */
export type Expectation =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'record'; readonly row: NaiveRow }
  | { readonly kind: 'lines'; readonly rows: readonly NaiveRow[] }
  | { readonly kind: 'table'; readonly count: number; readonly all: number; readonly rows: readonly NaiveRow[] }
  | ExpectedPage;

/**
 * One request of a scenario and the expected response. With `isRevalidated` the measured client already has this
 * response and must get a 304. With `isGzipped` it accepts gzip and must get it. Links start with `baseUrl` if it
 * differs from the configured one.
 */
export interface ScenarioQuestion {
  readonly target: string;
  readonly headers?: Headers;
  readonly isRevalidated?: boolean;
  readonly isGzipped?: boolean;
  readonly baseUrl?: string;
  readonly status: number;
  readonly version: 'v2' | 'v3';
  readonly expected: Expectation;
}

/** One call of the attribute authority and its expected response. */
export type SoapCall =
  | HostsCall
  | {
      readonly operation: 'reqAuthorisation';
      readonly who: Who;
      readonly roles: readonly string[];
      readonly provenance: 'original' | 'mapped';
    };

/** Requests the hosts with roles that map to `role`. `hosts` are the expected strings. */
export interface HostsCall {
  readonly operation: 'getTrustedHostInfo';
  readonly role: string;
  readonly hosts: readonly string[];
}

/** The common members of all scenarios. */
interface Terms {
  readonly name: string;
  readonly what: string;
  readonly control: Control;
  readonly grows: Growth;
  /** Requests of a round, enough for 30 ms of CPU. */
  readonly requests: number;
  /** Ratios of the design, if any. budgets.json has the maximum. */
  readonly pass?: number;
  readonly great?: number;
  /** Serving threads of the server, by default one. */
  readonly threads?: number;
  /** Additional settings of the server. */
  readonly flags?: readonly string[];
  /** Connections to the server and the control, by default a few. */
  readonly connections?: number;
}

/** A scenario of the catalogue: questions in turn. */
export interface CatalogueScenario extends Terms {
  questions(choice: Choice): readonly ScenarioQuestion[];
}

/** A scenario of the attribute authority: one call. */
export interface CallScenario extends Terms {
  readonly call: SoapCall;
}

export type Scenario = CatalogueScenario | CallScenario;

/** The input of scenarios: the rows, suitable words and prefixes of titles, and a project. */
export interface Choice {
  readonly catalogue: NaiveCatalogue;
  readonly word: string;
  readonly prefix: string;
  readonly project: { readonly id: number; readonly uuid: string };
}
