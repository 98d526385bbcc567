// A small JSON reader and writer that keeps what JSON.parse loses: number tokens, key order and repeated keys. Slow and
// obvious on purpose: it defines what a record is for the oracle.

/**
 * A JSON value with number tokens as written and object members in written order. A misfit is not JSON: it replaces a
 * value that does not fit in what filters see (misfits.ts), and keeps its text as stored.
 */
export type Json =
  | { readonly kind: 'null' }
  | { readonly kind: 'misfit'; readonly text: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'number'; readonly token: string }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'array'; readonly items: readonly Json[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [key: string, value: Json])[] };

interface Read {
  readonly value: Json;
  readonly end: number;
}

/** Reads one JSON text. Throws a SyntaxError on ill-formed text. Cost: linear. */
export function parseJson(text: string): Json {
  const { value, end } = readValue(text, skipBlanks(text, 0));
  if (skipBlanks(text, end) !== text.length) throw new SyntaxError(`text behind the value at ${end}`);
  return value;
}

/**
 * Writes a value with compact separators, number tokens as they are and strings escaped minimally (`\b \f \n \r \t`,
 * else `\u00xx`; U+2028 and U+2029 escaped). `mapText` is applied to every string value, never to a key. Cost: linear.
 */
export function writeJson(value: Json, mapText: (text: string) => string = (text) => text): string {
  const write = (inner: Json): string => writeJson(inner, mapText);
  switch (value.kind) {
    case 'null':
      return 'null';
    case 'misfit':
      throw new Error('a misfit is not written');
    case 'boolean':
      return String(value.value);
    case 'number':
      return value.token;
    case 'string':
      return writeText(mapText(value.value));
    case 'array':
      return `[${value.items.map(write).join(',')}]`;
    case 'object':
      return `{${value.members.map(([key, inner]) => `${writeText(key)}:${write(inner)}`).join(',')}}`;
  }
}

/** The same value, human-readable: two blanks per level, brackets without members on one line. Cost: quadratic. */
export function indented(value: Json): string {
  const parts =
    value.kind === 'array'
      ? value.items.map(indented)
      : value.kind === 'object'
        ? value.members.map(([key, inner]) => `${writeText(key)}: ${indented(inner)}`)
        : undefined;
  if (!parts) return writeJson(value);
  const [open, close] = value.kind === 'array' ? '[]' : '{}';
  const lines = parts.join(',\n').replaceAll('\n', '\n  ');
  return parts.length === 0 ? `${open}${close}` : `${open}\n  ${lines}\n${close}`;
}

/** One JSON string literal, escaped as the service does. Cost: linear. */
export function writeText(text: string): string {
  return JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/** The value of an object's member, undefined if it is missing or the value is not an object. */
export function memberOf(value: Json | undefined, name: string): Json | undefined {
  return value?.kind === 'object' ? value.members.findLast(([key]) => key === name)?.[1] : undefined;
}

const WORDS: readonly (readonly [string, Json])[] = [
  ['null', { kind: 'null' }],
  ['true', { kind: 'boolean', value: true }],
  ['false', { kind: 'boolean', value: false }],
];

function readValue(text: string, start: number): Read {
  if (text[start] === '{') return readObject(text, start);
  if (text[start] === '[') return readArray(text, start);
  if (text[start] === '"') {
    const { value, end } = readText(text, start);
    return { value: { kind: 'string', value }, end };
  }
  for (const [word, value] of WORDS) if (text.startsWith(word, start)) return { value, end: start + word.length };
  const token = matchAt(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y, text, start);
  return { value: { kind: 'number', token }, end: start + token.length };
}

function readText(text: string, start: number): { value: string; end: number } {
  const literal = matchAt(/"(?:[^"\\]|\\.)*"/y, text, start);
  return { value: JSON.parse(literal) as string, end: start + literal.length };
}

function readArray(text: string, start: number): Read {
  const items: Json[] = [];
  let at = skipBlanks(text, start + 1);
  while (text[at] !== ']') {
    const { value, end } = readValue(text, at);
    items.push(value);
    at = skipSeparator(text, end, ']');
  }
  return { value: { kind: 'array', items }, end: at + 1 };
}

function readObject(text: string, start: number): Read {
  const members: [string, Json][] = [];
  let at = skipBlanks(text, start + 1);
  while (text[at] !== '}') {
    const key = readText(text, at);
    const colon = skipBlanks(text, key.end);
    if (text[colon] !== ':') throw new SyntaxError(`no colon at ${colon}`);
    const { value, end } = readValue(text, skipBlanks(text, colon + 1));
    members.push([key.value, value]);
    at = skipSeparator(text, end, '}');
  }
  return { value: { kind: 'object', members }, end: at + 1 };
}

function skipSeparator(text: string, start: number, close: string): number {
  const at = skipBlanks(text, start);
  if (text[at] === close) return at;
  if (text[at] !== ',') throw new SyntaxError(`neither , nor ${close} at ${at}`);
  return skipBlanks(text, at + 1);
}

function skipBlanks(text: string, start: number): number {
  return start + matchAt(/[ \t\r\n]*/y, text, start).length;
}

function matchAt(pattern: RegExp, text: string, start: number): string {
  pattern.lastIndex = start;
  const match = pattern.exec(text);
  if (!match) throw new SyntaxError(`no JSON at ${start}`);
  return match[0];
}
