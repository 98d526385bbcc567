// Texts within markup: what is escaped in them.
// Pure; called by what writes requests, and by the page of the report.

/** A text as it stands between tags of XML or HTML. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
