// Outlines JSON in one pass over its brackets and quotes. Numbers keep their spelling (2.50, 9007199254740993), which
// JSON.parse would lose. The pass accepts any text, because a forged snapshot may contain malformed JSON.

/** A value and those of its members that are shown. */
export interface JsonOutline {
  /** Its key in the parent object, unescaped. Empty if its parent is not an object. */
  readonly key: string;
  readonly json: string;
  /** The first members of a list or object. Undefined for other values and for those nested too deeply. */
  readonly members: readonly JsonOutline[] | undefined;
  /** Number of all members, shown or not. 0 if `members` is undefined. */
  readonly count: number;
}

/** Limits of what is shown of a value. */
interface OutlineLimits {
  /** Members of each list, and of each object. */
  readonly listMax: number;
  readonly objectMax: number;
  /** Levels of nesting that show their members. With 1, only the outermost value shows them. */
  readonly levels: number;
  /** Members that may still be shown in total, counted down. */
  readonly budget: { left: number };
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Outlines a value that has no whitespace between its members. Cost: one pass over its text, and the members that are
 * shown.
 */
export function jsonOutline(json: string, limits: OutlineLimits): JsonOutline {
  return outlineAt({ json, at: 0, limits }, '', limits.levels);
}

interface Pass {
  readonly json: string;
  readonly limits: OutlineLimits;
  at: number;
}

function outlineAt(pass: Pass, key: string, levels: number): JsonOutline {
  const { json, at: start, limits } = pass;
  const opening = json.charCodeAt(start);
  const isObject = opening === OPEN_OBJECT;
  if (levels === 0 || !(isObject || opening === OPEN_LIST)) {
    pass.at = valueEnd(json, start);
    return { key, json: json.slice(start, pass.at), members: undefined, count: 0 };
  }
  const most = isObject ? limits.objectMax : limits.listMax;
  const members: JsonOutline[] = [];
  let count = 0;
  pass.at = start + 1;
  for (let isNext = !isClosing(json.charCodeAt(pass.at)); isNext; count++) {
    if (members.length < most && limits.budget.left > 0) {
      limits.budget.left--;
      members.push(outlineAt(pass, isObject ? keyAt(pass) : '', levels - 1));
    } else {
      pass.at = valueEnd(json, pass.at);
    }
    isNext = json.charCodeAt(pass.at) === COMMA;
    if (isNext) pass.at++;
  }
  pass.at++;
  return { key, json: json.slice(start, pass.at), members, count };
}

/** Reads a key and moves the pass past its colon. */
function keyAt(pass: Pass): string {
  const start = pass.at;
  const end = stringEnd(pass.json, start) + 1;
  pass.at = end + 1;
  return jsonString(pass.json.slice(start, end)) ?? '';
}

/** Position of the comma or bracket that follows a value, or a member with its key. */
function valueEnd(json: string, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    const character = json.charCodeAt(at);
    if (character === QUOTE) at = stringEnd(json, at);
    else if (character === OPEN_LIST || character === OPEN_OBJECT) depth++;
    else if (depth === 0 && (character === COMMA || isClosing(character))) return at;
    else if (isClosing(character)) depth--;
  }
  return json.length;
}

function isClosing(character: number): boolean {
  return character === CLOSE_LIST || character === CLOSE_OBJECT;
}

/**
 * The text of a JSON string, undefined for any other JSON value. Malformed JSON is returned unchanged. Cost: the length
 * of the text.
 */
export function jsonString(json: string): string | undefined {
  if (/^(?:[[{\d-]|null$|true$|false$)/.test(json)) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : json;
  } catch {
    return json;
  }
}

/** Position of the quote that closes the string at `start`, or the length of the text if it is open. */
function stringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return json.length;
}
