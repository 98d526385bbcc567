// Markup that escapes by itself: the one place that knows the template library. Whatever stands in a template is text,
// unless it is markup of a template; no raw text can be made markup.
import { html as template } from 'hono/html';

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
  return template(strings, ...children) as Markup;
}
