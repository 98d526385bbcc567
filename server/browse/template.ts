// Markup that escapes by itself: the one place that knows the template library. Whatever stands in a template is text,
// unless it is markup of a template; no raw text can be made markup.
import { html as template, raw } from 'hono/html';

/** Markup whose texts are escaped. */
export interface Markup {
  toString(): string;
  readonly isEscaped: true;
}

/** What may stand in a template: texts and numbers are escaped, what is false or nothing is left out. */
export type Child = Markup | string | number | false | null | undefined | readonly Child[];

/** Markup of a template. Cost: its length. */
export function html(strings: TemplateStringsArray, ...children: readonly Child[]): Markup {
  // No child is a promise, so that neither is the markup.
  return template(strings, ...(children.some(isWide) ? children.map(narrow) : children)) as Markup;
}

/**
 * A character that needs two bytes of memory. One of them makes the whole page such a text, which takes ten times as
 * long to make into UTF-8 (1.5 ms of 110 kB): pages have references (`&#8250;`) in their place.
 */
const WIDE = /[^\0-\xff]/;
const WIDE_RUN = /([^\0-\xff]+)/;

function isWide(child: Child): boolean {
  return typeof child === 'string' ? WIDE.test(child) : Array.isArray(child) && child.some(isWide);
}

function narrow(child: Child): Child {
  if (typeof child === 'string') return WIDE.test(child) ? child.split(WIDE_RUN).map(referenced) : child;
  return Array.isArray(child) ? child.map(narrow) : child;
}

/** What `split` finds at odd places is wide; the rest is left to the library, as a text that needs one byte each. */
function referenced(part: string, i: number): Child {
  if (i % 2 === 0) return Buffer.from(part, 'latin1').toString('latin1');
  return raw(Array.from(part, (each) => `&#${each.codePointAt(0)};`).join(''));
}
