// On which line each value of a TOML document stands, so that a mistake in its meaning can be told with its place. The
// document has been parsed before, by smol-toml, which does not tell: this only follows its punctuation.
import { parse } from 'smol-toml';

/** A place in a document: keys, and numbers of elements of arrays. */
export type TomlPath = readonly (string | number)[];

/** No value of a configuration stands deeper: what does has the line of what is around it. */
export const TOML_DEPTH_MAX = 8;
/** So many places are noted; those behind have the line of what is around them. */
const PLACES_MAX = 1_000_000;

function below(path: TomlPath, key: string | number): TomlPath {
  return path.length < TOML_DEPTH_MAX ? [...path, key] : path;
}

/**
 * The line of a value, its key's line; of the nearest table around it where it has none of its own. Lines count from 1.
 */
export type LineOf = (path: TomlPath) => number;

/** Follows a document that smol-toml has accepted. Cost: linear in its length. */
export function tomlLines(text: string): LineOf {
  const scanner = new Scanner(text);
  scanner.document();
  return (path) => {
    for (let length = path.length; length > 0; length--) {
      const line = scanner.lines.get(placeOf(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return 1;
  };
}

function placeOf(path: TomlPath): string {
  return JSON.stringify(path);
}

/** Blanks and line ends, or a comment. A pattern for all of a gap would need a stack as high as the gap is long. */
const GAP = /[ \t\r\n]+|#[^\n]*/y;
const BARE_KEY = /[A-Za-z0-9_-]+/y;
const STRING = /"""(?:[^\\]|\\[^])*?"""+|'''[^]*?'''+|"(?:[^"\\]|\\[^])*"|'[^']*'/y;
/** A number, boolean or time. */
const WORD = /[^,\]}#\n]*/y;

class Scanner {
  readonly lines = new Map<string, number>();
  readonly #text: string;
  /** How many elements each array of tables has so far, by its place. */
  readonly #tables = new Map<string, number>();
  #at = 0;
  #line = 1;

  constructor(text: string) {
    this.#text = text;
  }

  document(): void {
    let table: TomlPath = [];
    for (this.#skip(); this.#at < this.#text.length; this.#skip()) {
      if (this.#text[this.#at] === '[') table = this.#header();
      else this.#keyValue(table);
    }
  }

  /** `[a.b]` or `[[a.b]]`; a part that names an array of tables means its last element. */
  #header(): TomlPath {
    const isArray = this.#text.startsWith('[[', this.#at);
    this.#at += isArray ? 2 : 1;
    const keys = this.#keys();
    this.#at += isArray ? 2 : 1;
    let path: TomlPath = [];
    keys.forEach((key, i) => {
      path = below(path, key);
      const count = this.#tables.get(placeOf(path)) ?? 0;
      const isNew = isArray && i === keys.length - 1;
      if (isNew) this.#tables.set(placeOf(path), count + 1);
      if (isNew || count > 0) path = below(path, isNew ? count : count - 1);
    });
    this.#note(path);
    return path;
  }

  #keyValue(table: TomlPath): void {
    const keys = this.#keys();
    let path = table;
    for (const key of keys) this.#note((path = below(path, key)));
    this.#at++;
    this.#value(path);
  }

  #value(path: TomlPath): void {
    this.#skip();
    const first = this.#text[this.#at];
    if (first === '[') this.#elements(']', (i) => this.#element(below(path, i)));
    else if (first === '{') this.#elements('}', () => this.#keyValue(path));
    else if (first === '"' || first === "'") this.#take(STRING);
    else this.#take(WORD);
  }

  #element(path: TomlPath): void {
    this.#note(path);
    this.#value(path);
  }

  #elements(close: string, element: (i: number) => void): void {
    this.#at++;
    for (let i = 0; ; i++) {
      this.#skip();
      if (this.#text[this.#at] === close || this.#at >= this.#text.length) break;
      element(i);
      this.#skip();
      if (this.#text[this.#at] === ',') this.#at++;
    }
    this.#at++;
  }

  /** The parts of a key, up to what stands behind it. */
  #keys(): readonly string[] {
    const keys: string[] = [];
    for (;;) {
      this.#skip();
      const isQuoted = /["']/.test(this.#text[this.#at] ?? '');
      const written = this.#take(isQuoted ? STRING : BARE_KEY);
      if (keys.length < TOML_DEPTH_MAX) keys.push(isQuoted ? Object.keys(parse(`${written} = 0`))[0]! : written);
      this.#skip();
      if (this.#text[this.#at] !== '.') return keys;
      this.#at++;
    }
  }

  #note(path: TomlPath): void {
    if (this.lines.size === PLACES_MAX) return;
    const place = placeOf(path);
    if (!this.lines.has(place)) this.lines.set(place, this.#line);
  }

  #skip(): void {
    while (this.#take(GAP) !== '');
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [taken = ''] = pattern.exec(this.#text) ?? [];
    this.#at += taken.length;
    for (const character of taken) if (character === '\n') this.#line++;
    return taken;
  }
}
