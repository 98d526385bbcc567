// Reads TOML 1.1 strictly. Returns the values of a document and the position of each, so that syntax and semantic
// errors show file, line and column. Callers must limit the length of the text.
import { type AST, ParseError, parseTOML } from 'toml-eslint-parser';

/** Lines and columns count from 1. Without them the place is the whole file. */
export interface Place {
  readonly file: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

export function placeText({ file, line, column }: Place): string {
  return [file, line, column].filter((part) => part !== undefined).join(':');
}

/** A table without prototype, so that any name is an ordinary key. */
export type TomlTable = Readonly<Record<string, unknown>>;

/** The path of a value: keys, and indexes of array elements. */
export type TomlPath = readonly (string | number)[];

/** A document and the positions of its keys and elements. A value without a position has that of its table. */
export interface TomlDocument {
  readonly table: TomlTable;
  placeOf(path: TomlPath): Place;
}

/** A document, or the position and reason of the first syntax error. */
export type TomlReading =
  | ({ readonly kind: 'read' } & TomlDocument)
  | { readonly kind: 'refused'; readonly place: Place; readonly reason: string };

/** No valid configuration nests deeper. Deeper values are dropped; the value around them is an error anyway. */
export const TOML_DEPTH_MAX = 8;

/**
 * Reads the text of `file`. Costs up to 4 us and 1 kB of memory per byte, so callers must limit the text. Rejects a
 * single string of more than some 100,000 characters.
 */
export function readToml(file: string, text: string): TomlReading {
  try {
    const [{ body }] = parseTOML(text, { tomlVersion: '1.1' }).body;
    const root = new Draft(emptyTable(), { line: 1, column: 0 }, 0);
    for (const entry of body) {
      if (entry.type === 'TOMLKeyValue') root.addPair(entry);
      else root.addTable(entry);
    }
    return { kind: 'read', table: root.value as TomlTable, placeOf: (path) => placeIn(file, root.nearest(path)) };
  } catch (cause) {
    if (cause instanceof ParseError) {
      const place = placeIn(file, { line: cause.lineNumber, column: cause.column });
      return { kind: 'refused', place, reason: cause.message };
    }
    // The parser passes the characters of a string as arguments of one call. A string that is too long exceeds the
    // stack.
    if (cause instanceof RangeError) return { kind: 'refused', place: { file }, reason: 'a string in it is too long' };
    throw cause;
  }
}

/** The parser's position: columns count from 0. */
type Start = AST.Position;

function placeIn(file: string, { line, column }: Start): Place {
  return { file, line, column: column + 1 };
}

function emptyTable(): object {
  return Object.create(null) as object;
}

/** A value under construction, with the positions of its members. */
class Draft {
  readonly value: unknown;
  readonly #start: Start;
  readonly #depth: number;
  readonly #members = new Map<string | number, Draft>();

  constructor(value: unknown, start: Start, depth: number) {
    this.value = value;
    this.#start = start;
    this.#depth = depth;
  }

  nearest(path: TomlPath): Start {
    const [first, ...rest] = path;
    return (first === undefined ? undefined : this.#members.get(first)?.nearest(rest)) ?? this.#start;
  }

  /** `[a.b]` or `[[a.b]]`. The parser has numbered the elements of arrays of tables. */
  addTable({ key, resolvedKey, body }: AST.TOMLTable): void {
    const { start } = key.keys.at(-1)!.loc;
    const valueAt = (i: number): object => (typeof resolvedKey[i + 1] === 'number' ? [] : emptyTable());
    const table = resolvedKey.reduce<Draft>((at, part, i) => at.#member(part, start, valueAt(i)), this);
    for (const pair of body) table.addPair(pair);
  }

  addPair({ key: { keys }, value }: AST.TOMLKeyValue): void {
    const table = keys
      .slice(0, -1)
      .reduce<Draft>((at, key) => at.#member(nameOf(key), key.loc.start, emptyTable()), this);
    const last = keys.at(-1)!;
    table.#put(nameOf(last), last.loc.start, value);
  }

  #put(part: string | number, start: Start, content: AST.TOMLContentNode): void {
    if (this.#depth >= TOML_DEPTH_MAX) return;
    if (content.type === 'TOMLValue') this.#member(part, start, content.value);
    else if (content.type === 'TOMLInlineTable') {
      const table = this.#member(part, start, emptyTable());
      for (const pair of content.body) table.addPair(pair);
    } else {
      const array = this.#member(part, start, []);
      for (const [i, element] of content.elements.entries()) array.#put(i, element.loc.start, element);
    }
  }

  /** Returns the existing member, or adds `value`. Beyond the greatest depth the new member is not attached. */
  #member(part: string | number, start: Start, value: unknown): Draft {
    const known = this.#members.get(part);
    if (known) return known;
    const member = new Draft(value, start, this.#depth + 1);
    if (this.#depth < TOML_DEPTH_MAX) {
      this.#members.set(part, member);
      (this.value as Record<string | number, unknown>)[part] = value;
    }
    return member;
  }
}

function nameOf(key: AST.TOMLBare | AST.TOMLQuoted): string {
  return key.type === 'TOMLBare' ? key.name : key.value;
}
