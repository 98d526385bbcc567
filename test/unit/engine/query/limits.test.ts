// The limits of a query: a value at a limit is accepted, one beyond it is refused before the work is done. Work is
// counted, or compared with that of a plain bad parameter in the same run.
import { RE2JS } from 're2js';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Ask, QueryOptions } from '../../../../engine/query/ask.ts';
import { countParts, MEMBERS_MAX, NAMES_MAX, PARAMETERS_MAX, startAfter } from '../../../../engine/query/limits.ts';
import { parseRecordQuery } from '../../../../engine/query/parse.ts';
import { regexSize } from '../../../../engine/query/regex.ts';
import { indexesOf } from '../../../support/index.ts';
import { askOf, QUERY_OPTIONS } from '../../../support/lists.ts';

const LINK = '{base_url}/api/v3/observations/1/?format=api';
const OBSERVATIONS = indexesOf({
  observations: [{ ob_id: 1, title: 'a', permissions: [{ ob_id: LINK, label: 'x' }] }],
})('observations');
const MODES = ['fail', 'empty', 'ignore'] as const;
const TEXTS = ['title', 'abstract', 'uuid', 'status', 'publicationState', 'keywords', 'language', 'updateFrequency'];
const WIDE = '[\u0100-\u{10ffff}]';

function ask(query: string, options: Partial<QueryOptions> = {}): Ask {
  return askOf(OBSERVATIONS, query, options);
}

/** The problems of a query, one `key: message` each. */
function problemsOf(query: string, options: Partial<QueryOptions> = {}): readonly string[] {
  return ask(query, options).problems.map(({ key, messages }) => `${key}: ${messages.join(' ')}`);
}

const filled = (text: string, length: number): string => text.repeat(Math.ceil(length / text.length)).slice(0, length);
const listOf = (length: number, separator: string, one: (i: number) => string): string =>
  Array.from({ length }, (_, i) => one(i)).join(separator);
/** This many filters without repetition. */
const filters = (count: number, value: string, lookup: (i: number) => string): string =>
  listOf(
    count,
    '&',
    (i) => `${'permissions__'.repeat(i >> 4)}${TEXTS[i % 8]}__${lookup(i)}${i & 8 ? '!' : ''}=${value}`,
  );
const regexes = (count: number, pattern: string, lookup = 'iregex'): string =>
  filters(count, encodeURIComponent(pattern), () => lookup);

afterEach(() => void vi.restoreAllMocks());

test('counts parts, and finds the end of the first few, without splitting a text', () => {
  for (const text of ['', '&', 'a', 'a&b', '&&a&&', 'a&b&c&']) {
    const parts = text.split('&');
    expect(countParts(text, '&'), text).toBe(parts.length);
    for (let most = 1; most < 8; most++) {
      const start = startAfter(text, '&', most);
      expect(start < 0 ? undefined : text.slice(start), text).toEqual(
        most < parts.length ? parts.slice(most).join('&') : undefined,
      );
    }
  }
});

describe('regular expressions', () => {
  test.each([
    ['eight of wide classes', regexes(8, WIDE.repeat(83)), 'This regular expression is too large.'],
    ['one of wide classes', regexes(1, WIDE.repeat(83)), 'This regular expression is too large.'],
    [
      'one that folds case itself',
      regexes(1, `(?si)${WIDE.repeat(82)}`, 'regex'),
      'This regular expression is too large.',
    ],
    [
      'one of wide classes by escapes',
      regexes(1, '[\\x{100}-\\x{10ffff}\\101-\\x{ffff}]'),
      'This regular expression is too large.',
    ],
    ['33', regexes(33, 'a'), 'At most 8 regular expressions can be used at once.'],
    ['33 wrong ones', regexes(33, '('), 'At most 8 regular expressions can be used at once.'],
    [
      'two, large together',
      regexes(2, '(?:abc){200}'),
      'The regular expressions of this query are too large together.',
    ],
  ])('are refused before any is compiled: %s', (_, query, message) => {
    const compile = vi.spyOn(RE2JS, 'compile');
    const keys = query.split('&').map((part) => part.slice(0, part.indexOf('=')));
    expect(problemsOf(query)).toEqual(keys.map((key) => `${key}: ${message}`));
    expect(ask(query, { filterErrors: 'empty' })).toMatchObject({ isEmpty: true, problems: [], conditions: [] });
    expect(ask(query, { filterErrors: 'ignore' })).toMatchObject({ ignored: keys, problems: [], conditions: [] });
    expect(compile).not.toHaveBeenCalled();
  });

  test('are compiled if eight have a usual size, and with classes of whole scripts', () => {
    expect(ask(regexes(8, '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$')).conditions).toHaveLength(8);
    expect(ask(regexes(1, '[\u4e00-\u9fff\uac00-\ud7a3]')).conditions).toHaveLength(1);
    expect(ask(regexes(2, '[\u4e00-\u9fff]')).conditions).toHaveLength(2);
    expect(ask(regexes(1, WIDE.repeat(83), 'regex')).conditions).toHaveLength(1);
  });

  test('leave room for others if one alone is too large, and count repeated keys', () => {
    const large = `title__regex=${'a'.repeat(501)}`;
    expect(problemsOf(`${large}&uuid__regex=(abc){300}`)).toEqual([
      'title__regex: This regular expression is too large.',
    ]);
    expect(problemsOf(listOf(8, '&', (i) => `title__regex=${i}`))).toEqual([]);
    expect(problemsOf(listOf(9, '&', (i) => `title__regex=${i}`))).toEqual([
      'title__regex: At most 8 regular expressions can be used at once.',
    ]);
  });

  test.each([
    ['[a-z]', 26],
    ['[0-9]', 0],
    ['[\\0-\\x{10ffff}]', 0],
    ['[!-\\x{e0}]', 0xe0 - 0x41 + 1],
    ['[\\x41-\\x5A\\101-\\132]', 52],
    ['[\\\\-\\x{15c}]', 0x101],
    ['[\\\\x{ff}-\\x{17c}]', 0x100],
    ['(?:\\Q\\\\E[b-\\x{161}])', 0x100],
    ['[^\\]-\\x{15c}]', 0x100],
    ['[[:alpha:]a-\\x{160}]', 0x100],
    ['\u{1e900}-\u{1e921}', 34],
  ])('fold in the ranges of %s %i code points one by one', (pattern, points) => {
    expect((regexSize(pattern, true) - regexSize(pattern, false)) * 32).toBeCloseTo(points, 6);
    expect(regexSize(`(?i)${pattern}`, false) - regexSize(`(?i)${pattern}`, true)).toBe(0);
  });
});

test.each([']', '', ']+$'])('parses a class in one way, closed or not: %j after it', (end) => {
  const pattern = `[${'\\p{}\\pL\\d[:a:]'.repeat(35)}${end}`;
  expect(pattern.length).toBeLessThanOrEqual(500 + end.length);
  expect(regexSize(pattern, false)).toBeGreaterThan(35);
});

test('follows a path for no more steps than a key may have', () => {
  const key = `${'permissions__ob_id__'.repeat(3200)}x`;
  const look = vi.spyOn(Map.prototype, 'get');
  expect(problemsOf(`${key}=1`)).toEqual([`${key}: At most 6 relations can be stepped over.`]);
  const steps = look.mock.calls.filter(([name]) => name === 'permissions' || name === 'ob_id');
  expect(steps.length).toBeLessThanOrEqual(8 + 7);
});

describe('the parameters of a query', () => {
  const many = (count: number): string => listOf(count, '&', (i) => `p%C3%A4${i}=`);

  test('are refused before any is decoded, under the name of the first one beyond, in every view and mode', () => {
    const decode = vi.spyOn(TextDecoder.prototype, 'decode');
    const problems = [{ key: `p\u00e4${PARAMETERS_MAX}`, messages: ['At most 1024 parameters can be given at once.'] }];
    for (const filterErrors of MODES) {
      const refused = { problems, parameters: [], ignored: [] };
      expect(ask(many(30_000), { filterErrors })).toMatchObject(refused);
      expect(parseRecordQuery(many(PARAMETERS_MAX + 1), { ...QUERY_OPTIONS, filterErrors })).toMatchObject(refused);
    }
    expect(decode).toHaveBeenCalledTimes(2 * MODES.length);
    expect(problemsOf('&'.repeat(PARAMETERS_MAX))).toEqual([': At most 1024 parameters can be given at once.']);
  });

  test('are read up to the limit', () => {
    expect(ask(many(PARAMETERS_MAX)).parameters).toHaveLength(PARAMETERS_MAX);
    expect(ask('&'.repeat(PARAMETERS_MAX - 1)).problems).toEqual([]);
  });
});

test('refuses 65 filters in every mode before it reads a value, reads 64, and counts joined lists once', () => {
  const lookups = ['contains', 'exact', 'startswith', 'endswith', 'iexact', 'icontains', 'gt', 'lt', 'in'];
  const query = (count: number): string => filters(count, 'x', (i) => lookups[i % lookups.length]!);
  const last = query(65).split('&').at(-1)!.slice(0, -2);
  const trim = vi.spyOn(String.prototype, 'trim');
  for (const filterErrors of MODES) {
    const { problems, conditions, isEmpty } = ask(query(65), { filterErrors });
    expect({ conditions, isEmpty }).toEqual({ conditions: [], isEmpty: false });
    expect(problems).toEqual([{ key: last, messages: ['At most 64 filters can be used at once.'] }]);
  }
  expect(trim).not.toHaveBeenCalled();
  expect(ask(query(64)).problems).toEqual([]);
  expect(problemsOf(listOf(65, '&', () => 'title=x'))).toEqual(['title: At most 64 filters can be used at once.']);
  expect(ask(listOf(1000, '&', (i) => `ob_id__in=${i}`)).conditions).toHaveLength(1);
});

test('refuses 33 joined fields, 11 names to expand and tables with expanded links in every mode', () => {
  const fields = ['uuid', 'title', 'abstract', 'keywords', 'status', 'language', 'ob_id', 'dataLineage', 'projects'];
  const paths = ['permissions', 'result_field', 'permissions__ob_id', 'result_field__ob_id'];
  const joined = paths.flatMap((path) => fields.map((field) => `${path}__${field}`)).slice(0, 33);
  for (const filterErrors of MODES) {
    const messagesOf = (query: string): readonly string[] =>
      ask(query, { filterErrors }).problems.flatMap(({ messages }) => messages);
    expect(messagesOf(`fields=${joined.join()}`)).toEqual(['At most 32 joined fields can be requested at once.']);
    expect(messagesOf(`fields=${joined.slice(1).join()}`)).toEqual([]);
    expect(messagesOf(`expand=${listOf(11, ',', (i) => `p${i}`)}`)).toEqual([
      'At most 10 names can be expanded at once.',
    ]);
    expect(messagesOf('format=csv&expand=,')).toEqual([]);
    expect(messagesOf('format=parquet&expand=projects')).toEqual([expect.stringContaining('Name joined fields')]);
  }
});

describe('the lists of a query', () => {
  test.each([
    ['title__in', '+', MEMBERS_MAX],
    ['ob_id__in!', '7', MEMBERS_MAX],
    ['ob_id__range', '7', 2],
  ])('of %s beyond the limit are an error, and no member is read', (key, member, most) => {
    const query = `${key}=${listOf(MEMBERS_MAX + 1, ',', () => member)}`;
    const split = vi.spyOn(String.prototype, 'split');
    const found = problemsOf(query);
    const cut = split.mock.calls.filter(([separator]) => (separator as unknown) === ',').length;
    expect(found).toEqual([`${key}: Ensure this value has at most ${most} items (it has ${MEMBERS_MAX + 1}).`]);
    expect(cut).toBe(0);
    expect(ask(query, { filterErrors: 'empty' })).toMatchObject({ isEmpty: true });
    expect(ask(query, { filterErrors: 'ignore' })).toMatchObject({ ignored: [key], conditions: [] });
  });
});

test('treats joined lists and names beyond a limit as an error, like one list of their length', () => {
  const list = (length: number): string => listOf(length, ',', () => '7');
  expect(problemsOf(`ob_id__in=${list(MEMBERS_MAX - 1)}&ob_id__in=7`)).toEqual([]);
  expect(problemsOf(`ob_id__in=${list(MEMBERS_MAX - 1)}&ob_id__in=7,7`)).toEqual([
    `ob_id__in: Ensure this value has at most ${MEMBERS_MAX} items (it has ${MEMBERS_MAX + 1}).`,
  ]);
  expect(problemsOf(`fields=title&fields=${listOf(NAMES_MAX, ',', () => 'title')}`)).toEqual([
    'fields: At most 1024 names can be given at once.',
  ]);
});

describe('the names in a query', () => {
  test.each(['fields', 'ordering', 'facets'])(
    'in %s beyond the limit are refused in every mode, and not read',
    (name) => {
      for (const filterErrors of MODES) {
        const split = vi.spyOn(String.prototype, 'split');
        const { problems, ignored } = ask(`${name}=${listOf(NAMES_MAX + 1, ',', (i) => `n${i}`)}`, { filterErrors });
        expect(split).not.toHaveBeenCalled();
        expect({ problems, ignored }).toEqual({
          problems: [{ key: name, messages: ['At most 1024 names can be given at once.'] }],
          ignored: [],
        });
        vi.restoreAllMocks();
      }
      const most = ask(`${name}=${listOf(NAMES_MAX, ',', () => 'title')}`);
      expect(most.problems).toEqual([]);
    },
  );
});

test('spends on a query of 60 kB not much more than on one with a plain bad value of its length', () => {
  const room = 60_000;
  const costOf = (query: string, isStrict: boolean): number => {
    let least = Infinity;
    for (let run = 0; run < 7; run++) {
      const start = process.cpuUsage();
      ask(query, { isStrict });
      const { user, system } = process.cpuUsage(start);
      least = Math.min(least, user + system);
    }
    return least;
  };
  const bad = costOf(`result_field__volume__in=${filled('x,', 2 * MEMBERS_MAX - 2)}`, false);
  const queries = [
    regexes(8, WIDE.repeat(83)),
    regexes(33, WIDE.repeat(20)),
    `title__regex=${encodeURIComponent(`(?i)${WIDE.repeat(82)}`)}`,
    `${'permissions__ob_id__'.repeat(3200)}x=1`,
    'a&'.repeat(30_000),
    filled(
      listOf(10_000, '&', (i) => `titl${i}=`),
      room,
    ),
    ...['facets', 'fields', 'ordering'].map(
      (name) =>
        `${name}=${filled(
          listOf(9000, ',', (i) => `titl${i}`),
          room,
        )}`,
    ),
    `title__in=${filled('+,', room)}`,
    `dataPublishedTime__in=${filled('2016-01-02,', room)}`,
  ];
  for (const query of queries) {
    for (const isStrict of [false, true]) expect(costOf(query, isStrict), query.slice(0, 60)).toBeLessThan(bad * 20);
  }
});
