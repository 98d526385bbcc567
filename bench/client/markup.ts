// Texts within markup:
// what is markupEscaped in them. Pure.

/** A text as it stands between tags of XML or HTML. */
export function markupEscaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
