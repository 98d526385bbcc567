// The one reader of TOML: values of a document, and where each stands, so that a mistake in its form or its meaning is
// told with file, line and column. Strict by TOML 1.1. Pure: a text in; callers bound its length.
import { type AST, ParseError, parseTOML } from 'toml-eslint-parser';

/** Where something stands: lines and columns count from 1; without them the file as a whole is meant. */
export interface Place {
  readonly file: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

export function placeText({ file, line, column }: Place): string {
  return [file, line, column].filter((part) => part !== undefined).join(':');
}

/** The members of a table; without a prototype, so that any name is a member like the others. */
export type TomlTable = Readonly<Record<string, unknown>>;

/** A place in a document: keys, and numbers of elements of arrays. */
export type TomlPath = readonly (string | number)[];

/** A document: where its keys and elements begin. What has no place of its own has that of the table around it. */
export interface TomlDocument {
  readonly table: TomlTable;
  placeOf(path: TomlPath): Place;
}

/** A document, or the first thing in it that is no TOML, and where. */
export type TomlReading =
  | ({ readonly kind: 'read' } & TomlDocument)
  | { readonly kind: 'refused'; readonly place: Place; readonly reason: string };

/** No value of a configuration stands deeper: what does is left out, and what holds it is a mistake anyway. */
export const TOML_DEPTH_MAX = 8;

/**
 * Reads the text of `file`. Cost: up to 4 us and 1 kB of memory for each byte, so that callers bound the text first. A
 * single text in it of more than some 100,000 characters is refused.
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
    // The parser hands all characters of a text to one call, on the stack.
    if (cause instanceof RangeError) return { kind: 'refused', place: { file }, reason: 'a text in it is too long' };
    throw cause;
  }
}

/** As the parser has it: columns count from 0. */
type Start = AST.Position;

function placeIn(file: string, { line, column }: Start): Place {
  return { file, line, column: column + 1 };
}

function emptyTable(): object {
  return Object.create(null) as object;
}

/** A value under construction, with the beginnings of its members. */
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

  /** `[a.b]` or `[[a.b]]`: the parser has numbered the elements of arrays of tables. */
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

  /** The member that stands there, or `value` as a new one; beyond the greatest depth it stands nowhere. */
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
