// Values and places in TOML documents: random documents are read as meant, and the reported place of a value is that of
// its key. Every value is a different number, so that its line can be looked up. fast-check prints its seed.
import fc from 'fast-check';
import { parse, stringify } from 'smol-toml';
import { expect, test } from 'vitest';
import { placeText, readToml, TOML_DEPTH_MAX, type TomlDocument, type TomlPath } from '../../server/settings/toml.ts';

const KEY = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_-]{1,6}$/),
  fc.string({
    unit: fc.constantFrom('a', '.', '"', '\\', '#', '=', '[', ' ', 'é', "'", '/'),
    minLength: 1,
    maxLength: 5,
  }),
);
interface Tree {
  readonly table: object;
  readonly value: unknown;
}
const { table: TABLE } = fc.letrec<Tree>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constant(0),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('table'),
    fc.array(tie('table'), { minLength: 1, maxLength: 3 }),
  ),
  table: fc.dictionary(KEY, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}));

/** The same value with every leaf replaced by a counter; `paths` receives the path of each. */
function numbered(value: unknown, path: TomlPath, paths: Map<number, TomlPath>): unknown {
  if (Array.isArray(value)) return value.map((member, i) => numbered(member, [...path, i], paths));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, numbered(member, [...path, key], paths)]),
    );
  }
  const number = 1_000_000 + paths.size;
  paths.set(number, path);
  return number;
}

/** The same document in another layout: comments, empty lines, and a line for each element of an array. */
function spread(document: string, draw: number): string {
  return document
    .split('\n')
    .map((line, i) => ((i + draw) % 3 === 0 ? `# [no] = "table"\n\n${line}  # "comment` : line))
    .join('\n')
    .replace(/, (?=1\d{6})/g, (separator) => (draw % 2 === 0 ? ', # next, ]\n\t' : separator));
}

function documentOf(text: string): TomlDocument {
  const reading = readToml('a.toml', text);
  if (reading.kind === 'refused') throw new Error(reading.reason);
  return reading;
}

const WRITTEN_KEY = /^("(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+) *= */;

/** Whether the text begins with the key and then the number; for an element of an array, with the number. */
function begins(text: string, key: string | number, number: number): boolean {
  if (typeof key === 'number') return text.startsWith(String(number));
  const [whole = '', written = ''] = WRITTEN_KEY.exec(text) ?? [];
  return (
    whole !== '' && Object.keys(parse(`${written} = 0`))[0] === key && text.startsWith(String(number), whole.length)
  );
}

test('reads the values of random documents like another reader, each with the right place', () => {
  fc.assert(
    fc.property(TABLE, fc.nat(5), (table, draw) => {
      const paths = new Map<number, TomlPath>();
      const text = spread(stringify(numbered(table, [], paths)), draw);
      const document = documentOf(text);
      const deepest = Math.max(0, ...[...paths.values()].map((path) => path.length));
      if (deepest <= TOML_DEPTH_MAX) expect(document.table).toEqual(parse(text));
      const lines = text.split('\n');
      for (const [number, path] of paths) {
        const { line, column } = document.placeOf(path);
        const at = lines[line! - 1]!.slice(column! - 1);
        if (path.length <= TOML_DEPTH_MAX)
          expect([path, at, begins(at, path.at(-1)!, number)]).toEqual([path, at, true]);
        else expect(line).toBeLessThanOrEqual(lines.findIndex((one) => one.includes(String(number))) + 1);
      }
    }),
    { numRuns: 300 },
  );
});

test('gives a value without a place that of the table around it, and the document 1:1', () => {
  const { placeOf } = documentOf(
    'a = 1\n\n[b.c]\nd = { e = 1 }\n\n[[f]]\n[[f]]\ng = [\n  1,\n  { h = """\n\n""", i = 2 },\n]\n[f.j]\nk = 3\n',
  );
  const places: readonly (readonly [TomlPath, string])[] = [
    [['a'], '1:1'],
    [['b', 'c', 'd', 'e'], '4:7'],
    [['b', 'c', 'x'], '3:4'],
    [['f', 0], '6:3'],
    [['f', 1], '7:3'],
    [['f', 1, 'g', 1], '10:3'],
    [['f', 1, 'g', 1, 'i'], '12:6'],
    [['f', 1, 'j', 'k'], '15:1'],
    [['x'], '1:1'],
    [[], '1:1'],
  ];
  for (const [path, place] of places) expect([path, placeText(placeOf(path))]).toEqual([path, `a.toml:${place}`]);
});

test.each([
  ['a = 1\na = 2', '2:1'],
  ['[a]\n[a]', '2:2'],
  ['a = 1979-02-30', '1:14'],
  ['a = 01', '1:5'],
  ['a = "x', '1:7'],
  ['é = 1', '1:1'],
])('refuses invalid TOML at its place: %j', (text, place) => {
  const reading = readToml('a.toml', text);
  expect(reading.kind === 'refused' && placeText(reading.place)).toBe(`a.toml:${place}`);
});

test('accepts any name of a member, nested too', () => {
  const { table } = documentOf('constructor = 1\n["__proto__"]\ntoString.__proto__ = 2');
  expect(Object.keys(table)).toEqual(['constructor', '__proto__']);
  expect(JSON.stringify(table['__proto__'])).toBe('{"toString":{"__proto__":2}}');
});
