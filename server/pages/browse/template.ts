// Markup that escapes by itself. A child of a template is text unless another template made it, and nothing else makes
// markup, so no text of a record or a client becomes part of the page's structure.

/** Characters that end a text or a quoted attribute, and their references. */
const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const BEYOND_ASCII = /[^\0-\x7f]/;

/** Escaped text; each of its characters is a byte of UTF-8. */
class Markup {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}
export type { Markup };

/** Child of a template: texts are escaped; false, null and undefined give nothing. */
export type Child = Markup | string | number | false | null | undefined | readonly Child[];

/** Markup from a template whose own text is ASCII. Attributes must be quoted. Cost: its length. */
export function html(strings: TemplateStringsArray, ...children: readonly Child[]): Markup {
  let text = strings[0]!;
  for (const [i, child] of children.entries()) text += escaped(child) + strings[i + 1]!;
  return new Markup(text);
}

export function utf8Of(markup: Markup): Buffer {
  return Buffer.from(markup.toString(), 'latin1');
}

/** Converts each text to UTF-8: one character beyond Latin-1 would double the memory of the page, and the time. */
function escaped(child: Child): string {
  if (child instanceof Markup) return child.toString();
  if (typeof child === 'string') {
    const bytes = BEYOND_ASCII.test(child) ? Buffer.from(child).toString('latin1') : child;
    return bytes.replace(/[&<>"']/g, (character) => REFERENCES[character]!);
  }
  if (typeof child === 'number') return String(child);
  return child ? child.map(escaped).join('') : '';
}
