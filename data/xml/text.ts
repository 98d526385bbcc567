// Characters that XML writes otherwise than they are: escaped in texts, and the five that every document has a name for
// (XML 1.0, section 4.6). Pure.

/** The five characters by their names. */
const NAMED_CHARACTERS = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" } as const;

const REFERENCE = /&(lt|gt|amp|quot|apos);/g;
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };

/** Text as it stands between tags, in canonical XML too (Canonical XML 1.0, section 2.3). */
export function escapedText(text: string): string {
  return text.replace(/[&<>\r]/g, (character) => ESCAPES[character]!);
}

/** Text with the references to the five characters resolved; every other `&` stays. */
export function unescapedText(text: string): string {
  return text.replace(REFERENCE, (_, name: keyof typeof NAMED_CHARACTERS) => NAMED_CHARACTERS[name]);
}
