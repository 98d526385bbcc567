// Texts within markup:
// what is escaped in them. Pure.

/** A text as it stands between tags of XML or HTML. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
