// A query while it is read: what its parameters have said so far, and the remarks on them by their places.
// Plain data that readers fill; knows no parameter and no lookup.
import type { TopLevelKeys } from '../column/records.ts';
import type { CollectionIndex } from '../index/table.ts';
import type { Ask, Condition, ExportFormat, IgnoredName, Page, Parameter, QueryOptions } from './ask.ts';
import type { Problem } from './problems.ts';
import { SUGGESTIONS_MAX } from '../bits/suggest.ts';

/** What a request is answered with: a page of a list, a single record, a view without records, or what is looked up. */
export type View = 'list' | 'record' | 'root' | 'lookup';

/** What is said about the parameter at a place of the query: names without effect, or why the request is refused. */
interface Remark {
  readonly at: number;
  readonly ignored?: IgnoredName;
  readonly problem?: Problem;
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/** The largest number of a page: exact in a double, beyond every list. Larger ones count as it (A21). */
export const NUMBER_MAX = 999_999_999_999_999;

const NONE: readonly never[] = [];

/** The limit of a page, or of an export, that names none: an export has all rows (A19, A62). */
export function limitWithout({ limitDefault, limitMax }: QueryOptions, exported: ExportFormat | undefined): number {
  return exported ? NUMBER_MAX : Math.min(limitDefault, limitMax ?? Infinity);
}

/** One query while it is read. `collection` is that of a list; `known` are the keys that records can have. */
export class Reading {
  readonly parameters: readonly Parameter[];
  readonly options: QueryOptions;
  readonly collection: CollectionIndex | undefined;
  readonly known: TopLevelKeys | undefined;
  readonly page: Writable<Page>;
  readonly conditions: Condition[] = [];
  isStrict: boolean;
  isEmpty = false;
  isExplained = false;
  generation: string | undefined;
  #remarks: Remark[] | undefined;
  #hints = 0;

  constructor(
    parameters: readonly Parameter[],
    options: QueryOptions,
    { collection, known }: { readonly collection?: CollectionIndex; readonly known?: TopLevelKeys | undefined },
  ) {
    this.parameters = parameters;
    this.options = options;
    this.collection = collection;
    this.known = known;
    this.isStrict = options.isStrict;
    const { exported } = options;
    const limit = limitWithout(options, exported);
    this.page = {
      order: NONE,
      after: undefined,
      offset: 0,
      limit,
      facets: NONE,
      keys: undefined,
      format: undefined,
      exported,
      isIndented: false,
    };
  }

  /** Whether a parameter is there, with any value. Cost: the parameters. */
  isGiven(name: string): boolean {
    return this.parameters.some(([given]) => given === name);
  }

  /** Where a name is in the query. Cost: the parameters. */
  placesOf(name: string): readonly number[] {
    return this.parameters.flatMap(([given], at) => (given === name ? [at] : []));
  }

  /** All values of a name as one list. Cost: the parameters. */
  joined(name: string): string {
    return this.placesOf(name)
      .map((at) => this.parameters[at]![1])
      .join(',');
  }

  /** Whether one more name or step may get a suggestion: each costs an edit distance to every name that fits there. */
  mayHint(): boolean {
    return this.#hints++ < SUGGESTIONS_MAX;
  }

  /** Notes that a name at a place of the query has no effect. */
  ignore(at: number, ignored: IgnoredName): void {
    (this.#remarks ??= []).push({ at, ignored });
  }

  /** Notes what is wrong with the parameter at a place of the query: nothing where there are no messages. */
  refuse(at: number, messages: readonly string[]): void {
    if (messages.length > 0) (this.#remarks ??= []).push({ at, problem: { key: this.parameters[at]![0], messages } });
  }

  /** The query as plain data; remarks in query order, each name and wrong key once. Cost: the remarks, sorted. */
  ask(): Ask {
    const { parameters, page, conditions, isEmpty, isExplained, generation } = this;
    const remarks = this.#remarks?.sort((a, b) => a.at - b.at) ?? NONE;
    return {
      parameters,
      page,
      conditions,
      isEmpty,
      isExplained,
      generation,
      ignored: remarks.length === 0 ? NONE : namesOf(remarks),
      problems: remarks.length === 0 ? NONE : problemsOf(remarks),
    };
  }
}

function namesOf(remarks: readonly Remark[]): readonly IgnoredName[] {
  const names = remarks.map(({ ignored }) => ignored).filter((name) => name !== undefined);
  return [...new Set(names)];
}

/** A key that is repeated has the messages of all its values, each once. */
function problemsOf(remarks: readonly Remark[]): readonly Problem[] {
  const byKey = new Map<string, Set<string>>();
  for (const { problem } of remarks) {
    if (!problem) continue;
    const messages = byKey.get(problem.key) ?? new Set();
    byKey.set(problem.key, messages);
    for (const message of problem.messages) messages.add(message);
  }
  return Array.from(byKey, ([key, messages]) => ({ key, messages: [...messages] }));
}
