// Lines of values in TOML documents: for random documents, the line that is told for a value is the one it stands on.
// Every value is another number, so that a line can be looked up; fast-check prints its seed.
import fc from 'fast-check';
import { parse, stringify } from 'smol-toml';
import { expect, test } from 'vitest';
import { TOML_DEPTH_MAX, tomlLines, type TomlPath } from '../../server/authority/configuration/tomlLines.ts';

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

/** The same value with every leaf another number, counted up; and the path of each. */
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

/** A document written in another way: comments, empty lines, and a line for each element of an array. */
function spread(document: string, draw: number): string {
  return document
    .split('\n')
    .map((line, i) => ((i + draw) % 3 === 0 ? `# [no] = "table"\n\n${line}  # "comment` : line))
    .join('\n')
    .replace(/, (?=1\d{6})/g, (separator) => (draw % 2 === 0 ? ', # next, ]\n\t' : separator));
}

test('every value stands on the line that is told, or deeper than any of a configuration, behind it', () => {
  fc.assert(
    fc.property(TABLE, fc.nat(5), (table, draw) => {
      const paths = new Map<number, TomlPath>();
      const text = spread(stringify(numbered(table, [], paths)), draw);
      expect(() => parse(text)).not.toThrow();
      const lineOf = tomlLines(text);
      const lines = text.split('\n');
      for (const [number, path] of paths) {
        const line = lineOf(path);
        if (path.length <= TOML_DEPTH_MAX) expect(lines[line - 1]).toContain(String(number));
        else expect(line).toBeLessThanOrEqual(lines.findIndex((one) => one.includes(String(number))) + 1);
      }
    }),
    { numRuns: 300 },
  );
});

test('a value without a line of its own has that of the table around it, and the document begins on line 1', () => {
  const lineOf = tomlLines(
    'a = 1\n\n[b.c]\nd = { e = 1 }\n\n[[f]]\n[[f]]\ng = [\n  1,\n  { h = """\n\n""", i = 2 },\n]\n[f.j]\nk = 3\n',
  );
  expect(
    [
      ['a'],
      ['b', 'c', 'd', 'e'],
      ['b', 'c', 'x'],
      ['f', 0],
      ['f', 1],
      ['f', 1, 'g', 1],
      ['f', 1, 'g', 1, 'i'],
      ['f', 1, 'j', 'k'],
      ['x'],
      [],
    ].map(lineOf),
  ).toEqual([1, 4, 3, 6, 7, 10, 12, 15, 1, 1]);
});
