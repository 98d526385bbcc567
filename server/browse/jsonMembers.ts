// The members of a list or object of JSON as texts, found by a scan of its brackets and quotes: a value is read no
// further than it is shown, and numbers stay as they are written, which JSON.parse loses (2.50, 9007199254740993).
// Pure; takes whatever a snapshot that somebody forged may hold, and never throws.

/** A member as JSON; one of an object has its key, unescaped. */
export interface JsonMember {
  readonly key: string;
  readonly json: string;
}

/** The first members of a list or object, and how many it has. */
export interface JsonMembers {
  readonly members: readonly JsonMember[];
  readonly count: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The first `most` members of a list or object without blanks between them. Cost: a pass over its text. */
export function jsonMembers(json: string, most: number): JsonMembers {
  const isObject = json.charCodeAt(0) === OPEN_OBJECT;
  const end = json.length - 1;
  const members: JsonMember[] = [];
  let count = 0;
  let start = 1;
  let depth = 0;
  for (let at = 1; at <= end; at++) {
    const character = at === end ? COMMA : json.charCodeAt(at);
    if (character === QUOTE) at = Math.min(stringEnd(json, at), end - 1);
    else if (character === OPEN_LIST || character === OPEN_OBJECT) depth++;
    else if (character === CLOSE_LIST || character === CLOSE_OBJECT) depth--;
    else if (character === COMMA && (depth === 0 || at === end) && end > 1) {
      if (count++ < most) members.push(memberOf(json.slice(start, at), isObject));
      start = at + 1;
    }
  }
  return { members, count };
}

function memberOf(text: string, hasKey: boolean): JsonMember {
  if (!hasKey) return { key: '', json: text };
  const colon = stringEnd(text, 0) + 1;
  return { key: jsonString(text.slice(0, colon)) ?? '', json: text.slice(colon + 1) };
}

/** The text of a JSON string; of what is no JSON, all of it as it stands; undefined of other values. Cost: the text. */
export function jsonString(json: string): string | undefined {
  if (/^(?:[[{\d-]|null$|true$|false$)/.test(json)) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : json;
  } catch {
    return json;
  }
}

/** Where the string that begins at a place has its last quote; behind the text where it has none. */
function stringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return json.length;
}
