/**
 * The parts of a page that a test can quote, in order: table rows without their outer bars, everything else cut at the
 * ends of sentences. Parses only as much markdown as this needs.
 */
export function unitsOf(markdown: string): string[] {
  const lines = markdown.split('\n').map((line) => line.trim());
  return lines.flatMap((line, i) => {
    if (line === '' || line.startsWith('#') || isRule(line) || isRule(lines[i + 1] ?? '')) return [];
    if (line.startsWith('|')) return [line.replace(/^\|\s*/, '').replace(/[\s|]*$/, '')];
    return line.replace(/^- /, '').split(/(?<=[.])\s+(?=[A-Z`])/);
  });
}

/** The text to compare: without code marks, with single blanks. */
export function plainOf(text: string): string {
  return text.replaceAll('`', '').replace(/\s+/g, ' ').trim();
}

/** The line below the head of a table. */
function isRule(line: string): boolean {
  return /^\|[-|\s]+$/.test(line) && line.includes('---');
}
