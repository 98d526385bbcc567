import fc from 'fast-check';
import { parseHTML } from 'linkedom';
import { expect, test } from 'vitest';
import { html, utf8Of } from '../../../../../server/pages/browse/template.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('<script>', '</p>', '" onclick="x', "' x='", '&lt;', '&amp;amp;', '<!--', 'é', '\u{1f600}'),
);

test('gives an element and its attributes the texts of the children, and no new element', () => {
  fc.assert(
    fc.property(text, text, (title, body) => {
      const markup = html`<p title="${title}" lang="${title}">${body}</p>`;
      const { document } = parseHTML(`<!doctype html><html><body>${utf8Of(markup).toString()}</body></html>`);
      const element = document.body.firstElementChild!;
      expect(element.getAttributeNames()).toEqual(['title', 'lang']);
      expect([element.getAttribute('title'), element.children.length]).toEqual([title, 0]);
      expect(element.textContent).toBe(body);
    }),
  );
});

test('escapes every character that ends a text or an attribute, in either quotes', () => {
  const characters = `"&<>'`;
  expect(utf8Of(html`<a b="${characters}">${characters}</a>`).toString()).toBe(
    '<a b="&quot;&amp;&lt;&gt;&#39;">&quot;&amp;&lt;&gt;&#39;</a>',
  );
});

test('joins nested arrays, escapes their texts, and writes nothing for false, null and undefined', () => {
  const children = ['<', [html`<b>${'&'}</b>`, [['é', 0], null]], [], undefined, false] as const;
  expect(utf8Of(html`<p>${children}</p>`).toString()).toBe('<p>&lt;<b>&amp;</b>é0</p>');
});

test('inserts markup of templates unchanged, once, and neither texts nor look-alike objects', () => {
  const inner = html`<b>${'<'}</b>`;
  expect(utf8Of(html`${inner}${String(inner)}`).toString()).toBe('<b>&lt;</b>&lt;b&gt;&amp;lt;&lt;/b&gt;');
  // A value of a record that JSON.parse made could look like this.
  const alike = { isEscaped: true, toString: () => '<script>' } as unknown as typeof inner;
  expect(() => html`${alike}`).toThrow(TypeError);
});
