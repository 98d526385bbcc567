// Markup with automatic escaping. A child of a template is escaped unless it is the result of another template. Nothing
// else creates markup, so no text from a record or a client becomes part of the page's structure.

/** Characters that could end a text or a quoted attribute, and their references. */
const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const PLAIN = /^[^&<>"'\x80-\uffff]*$/;
const BEYOND_ASCII = /[^\0-\x7f]/;

/** Escaped text. Each character is one byte of its UTF-8 form. */
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

/** Child of a template. Texts are escaped; false, null and undefined produce nothing. */
export type Child = Markup | string | number | false | null | undefined | readonly Child[];

/** Templates without indentation, which is a fifth of a list page. */
const collapsed = new WeakMap<TemplateStringsArray, readonly string[]>();
const INDENTATION = /\s*\n\s*/g;

/** Creates markup. The text of the template itself must be ASCII, and attributes must be quoted. Cost: its length. */
export function html(strings: TemplateStringsArray, ...children: readonly Child[]): Markup {
  let parts = collapsed.get(strings);
  if (!parts) collapsed.set(strings, (parts = strings.map((part) => part.replace(INDENTATION, '\n'))));
  let text = parts[0]!;
  for (let i = 0; i < children.length; i++) text += escaped(children[i]) + parts[i + 1]!;
  return new Markup(text);
}

/** A script element with data. Characters that could end it, or begin a comment, are escaped within its strings. */
export function jsonScript(type: string, data: object): Markup {
  const json = JSON.stringify(data).replace(/[<>&\u2028\u2029]|[^\0-\x7f]/g, unicodeEscape);
  return new Markup(`<script type="${type}">${json}</script>`);
}

function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export function utf8Of(markup: Markup): Buffer {
  return Buffer.from(markup.toString(), 'latin1');
}

/**
 * Copies markup that many pages contain into one flat text with one byte a character. Without this, a part of a text
 * beyond Latin-1, such as a label split at `›`, keeps two bytes a character in V8, and so does every page with it.
 */
export function compact(children: readonly Markup[]): Markup {
  return new Markup(utf8Of(html`${children}`).toString('latin1'));
}

/**
 * Converts each text to UTF-8 bytes: a single character beyond Latin-1 would double the memory of the page, and the
 * time.
 */
function escaped(child: Child): string {
  if (child instanceof Markup) return child.toString();
  if (typeof child === 'string') {
    if (PLAIN.test(child)) return child;
    const bytes = BEYOND_ASCII.test(child) ? Buffer.from(child).toString('latin1') : child;
    return bytes.replace(/[&<>"']/g, (character) => REFERENCES[character]!);
  }
  if (typeof child === 'number') return String(child);
  if (!child) return '';
  // V8 appends without copying. Joining would copy each text at every level of templates.
  let text = '';
  for (const each of child) text += escaped(each);
  return text;
}
