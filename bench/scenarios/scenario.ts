// What a load scenario is: what is asked, what the answer must be, and which control the cost is divided by.
// Types only. The tables are scenarios.ts and callScenarios.ts; questions.ts and callCheck.ts put them into requests.
import type { Who } from '../authority/authorityFiles.ts';
import type { NaiveCatalogue, NaiveRow } from './naive.ts';

/**
 * What a scenario's cost is divided by. `bare`: 300 bytes. `page`: one view of as many bytes for each question, the
 * same every time, so as much in the cache as its pages are. `floor`: one view of as many bytes that is not in the
 * cache. `scan`: one pass over all titles. `markup`: as many bytes of HTML, written from titles. `signature`: one
 * RSA-2048 signature, sent as 300 bytes. A scenario of that name: what that costs, a byte each where `per` says so,
 * since no two pages are of one size.
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
 * How the cost of a scenario may grow with the number of records: not, with its logarithm, with the bytes of the page,
 * or with what is scanned. growth.ts says what that comes to.
 */
export type Growth = 'constant' | 'logarithmic' | 'page' | 'scan';

/** Headers of a request beside Host, by name. */
export type Headers = Readonly<Record<string, string>>;

/** How often each value of a field is found in a list, by field. */
export type Facets = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** The rows a list answers with: `rows` of `count`, with a next page or none; cut to `keys`, counted by `facets`. */
export interface ExpectedPage {
  readonly kind: 'page';
  readonly count: number;
  readonly hasNext: boolean;
  readonly rows: readonly NaiveRow[];
  readonly keys?: readonly string[];
  readonly facets?: Facets;
}

/** What an answer must hold: a text, one record, a page of a list, rows as lines, or a page for people. */
export type Expectation =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'record'; readonly row: NaiveRow }
  | { readonly kind: 'lines'; readonly rows: readonly NaiveRow[] }
  | { readonly kind: 'table'; readonly count: number; readonly all: number; readonly rows: readonly NaiveRow[] }
  | ExpectedPage;

/**
 * One request of a scenario and what must come back. With `isRevalidated` it is measured as the request of a client
 * that has this answer already, and must get a 304; with `isGzipped` as that of one that takes gzip, and must get it.
 * Links start with `baseUrl` where that is not the configured one.
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

/** One call of the attribute authority and what it must answer. */
export type SoapCall =
  | HostsCall
  | {
      readonly operation: 'reqAuthorisation';
      readonly who: Who;
      readonly roles: readonly string[];
      readonly provenance: 'original' | 'mapped';
    };

/** Asks which hosts have roles that map to `role`; `hosts` are the strings to be answered. */
export interface HostsCall {
  readonly operation: 'getTrustedHostInfo';
  readonly role: string;
  readonly hosts: readonly string[];
}

/**
 * What all scenarios have. `requests` is how many a round takes, enough for 30 ms of CPU. `pass` and `great` are the
 * ratios of the design, where it has some; what may not be passed any more stands in budgets.json. `grows` is how its
 * cost may, with the catalogue. With `threads` the
 * server of the scenario has so many serving threads instead of one, with `flags` these settings beside the usual ones;
 * with `connections` so many ask it and its control, instead of a few.
 */
interface Terms {
  readonly name: string;
  readonly what: string;
  readonly control: Control;
  readonly grows: Growth;
  readonly requests: number;
  readonly pass?: number;
  readonly great?: number;
  readonly threads?: number;
  readonly flags?: readonly string[];
  readonly connections?: number;
}

/** A scenario of the catalogue: questions taken in turn. */
export interface CatalogueScenario extends Terms {
  questions(choice: Choice): readonly ScenarioQuestion[];
}

/** A scenario of the attribute authority: one call. */
export interface CallScenario extends Terms {
  readonly call: SoapCall;
}

/** One scenario. */
export type Scenario = CatalogueScenario | CallScenario;

/** What scenarios choose from: the rows, a word and a prefix of titles that fit their purpose, and a project. */
export interface Choice {
  readonly catalogue: NaiveCatalogue;
  readonly word: string;
  readonly prefix: string;
  readonly project: { readonly id: number; readonly uuid: string };
}
