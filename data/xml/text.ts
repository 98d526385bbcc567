/** Characters that canonical XML escapes in texts (Canonical XML 1.0, section 2.3). */
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };

/** A text as it stands between tags, in canonical XML too. */
export function escapedText(text: string): string {
  return text.replace(/[&<>\r]/g, (character) => ESCAPES[character]!);
}
