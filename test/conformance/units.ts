// Cuts a page of the specification into what a test can quote: sentences, list points and table rows. Knows markdown
// just well enough for that.

/** The units of a page in order: table rows with their outer bars removed, all else cut at the ends of sentences. */
export function unitsOf(markdown: string): string[] {
  const lines = markdown.split('\n').map((line) => line.trim());
  return lines.flatMap((line, i) => {
    if (line === '' || line.startsWith('#') || isRule(line) || isRule(lines[i + 1] ?? '')) return [];
    if (line.startsWith('|')) return [line.replace(/^\|\s*/, '').replace(/[\s|]*$/, '')];
    return line.replace(/^- /, '').split(/(?<=[.])\s+(?=[A-Z`])/);
  });
}

/** A text as compared: without code marks, with single blanks. */
export function plainOf(text: string): string {
  return text.replaceAll('`', '').replace(/\s+/g, ' ').trim();
}

/** The line below the head of a table. */
function isRule(line: string): boolean {
  return /^\|[-|\s]+$/.test(line) && line.includes('---');
}
