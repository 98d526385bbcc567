// Escapes texts for markup. Pure.

/** A text as it appears between tags of XML or HTML. */
export function markupEscaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
