// The guard against slow parsing: what the declarations offer is asked for by the costliest heads of 64 kB that follow
// from them, and each is compared with a plain bad value of that length in the same run. Rows of PARAMETERS and LOOKUPS
// are covered by being there; a limit, which bounds a syntax, needs the row of HEADS below that lies at it.
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ColumnType } from '../../../../engine/column/dictionary.ts';
import * as limits from '../../../../engine/query/limits.ts';
import { type Column, type Lookup, LOOKUPS } from '../../../../engine/query/lookups.ts';
import { type ParameterDeclaration, PARAMETERS } from '../../../../engine/query/parameters.ts';
import { parseRecordQuery } from '../../../../engine/query/parse.ts';
import { collectionNamed } from '../../../../engine/schema/catalogue.ts';
import { BUDGET_NS } from '../../../../workers/router.ts';
import { indexesOf, type RecordValue } from '../../../support/index.ts';
import { askOf, QUERY_OPTIONS, stepsOf } from '../../../support/lists.ts';

/** What is left of a head of 64 kB for the query. */
const ROOM = 60_000;
const ROWS = 8;
/** Costs of a plain bad value that a head may have: the dearest has some 5 once it is compiled. */
const COST_MAX = 20;
/** Below this the clock and the collector say more than the code. */
const FLOOR_MICROSECONDS = 1000;
/** A head is too dear if it is every time. */
const RUNS = 6;

const OPTIONS = { ...QUERY_OPTIONS, mayExplain: true, pinsWalks: true };
const LINK = '{base_url}/api/v3/observations/1/?format=api';
const OBSERVATIONS = indexesOf({
  observations: Array.from({ length: ROWS }, (_, i) => ({
    ob_id: i + 1,
    title: `title ${i} (a1)`,
    nonGeographicFlag: i % 2 === 0,
    dataPublishedTime: `2016-05-${10 + (i % 20)}`,
    creationDate: `2016-05-${10 + (i % 20)}T10:00:00`,
    permissions: [{ ob_id: LINK, label: `x${i}` }],
    result_field: { volume: i, oldDataPath: ['p'] },
  })),
})('observations');
const FIELDS = collectionNamed('observations')!.fields.map(({ name }) => name);

/** A key of each type of column, as far as observations have one. */
const KEYS: readonly (readonly [key: string, column: Column])[] = keysOf();

function keysOf(): [string, Column][] {
  const found: [string, Column][] = [];
  const walk = (members: typeof OBSERVATIONS.members, path: string): void => {
    for (const [name, node] of members) {
      if (node.kind !== 'values') {
        if (path === '') walk((node as { members?: typeof members }).members ?? new Map(), `${name}__`);
        continue;
      }
      const { type } = node.index.dictionary;
      const isNew = !found.some(([, column]) => column.type === type);
      if (isNew) found.push([path + name, { type, isRelation: type === 'link' }]);
    }
  };
  walk(OBSERVATIONS.members, '');
  return found;
}

/** What values consist of: every character that a reader may stop at, numbers, dates, names, pieces of patterns. */
const FILLS: readonly string[] = [
  '0',
  ',',
  '%C3%A9',
  '1,',
  '2016-05-12T10:00:00,',
  '(a%2B)*',
  '-titl,',
  'permissions__ob_id__',
  `${FIELDS.join(',')},`,
];

/** So much of a fill, followed by what makes a reader that hoped for a number go back. */
const filled = (fill: string, length: number, tail = ''): string =>
  fill.repeat(Math.ceil(length / fill.length)).slice(0, length - tail.length) + tail;

/** What the thread does for a query before a pool can have it, in every view, and the answer of few rows. */
function work(query: string, isStrict: boolean): void {
  const options = { ...OPTIONS, isStrict };
  stepsOf(OBSERVATIONS, query, { options, mayIgnore: true });
  parseRecordQuery(query, options, OBSERVATIONS.keys);
  parseRecordQuery(query, options);
}

function microsecondsOf(query: string, isStrict: boolean): number {
  const start = process.cpuUsage();
  work(query, isStrict);
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

const PLAIN = `result_field__volume__in=${filled('x,', 2 * limits.MEMBERS_MAX - 2)}`;
/** The least that the plain one has cost: measured again beside all others, since a first moment may be a busy one. */
let plain = Infinity;

/** The cost of a head in those of a plain one, the least of several runs, or of fewer once it is not too dear. */
function costOf(query: string, isStrict: boolean): number {
  let least = Infinity;
  for (let n = 0; n < RUNS && least > COST_MAX; n++)
    least = Math.min(least, microsecondsOf(query, isStrict) / Math.max(FLOOR_MICROSECONDS, plain));
  return least;
}

/** The heads that are too dear, by their beginnings. Names without effect alone cost more in strict mode. */
function tooDear(heads: readonly string[], modes: readonly boolean[] = [true]): readonly string[] {
  for (let n = 0; n < RUNS; n++) plain = Math.min(plain, microsecondsOf(PLAIN, false));
  return heads
    .filter((head) => modes.some((isStrict) => costOf(head, isStrict) > COST_MAX))
    .map((head) => `${head.slice(0, 80)}...`);
}

/** The longest head of a kind that is legal, of those tried. */
function longestLegal(make: (length: number) => string): string {
  const heads = [ROOM, limits.REGEX_LENGTH_MAX, 64].map(make);
  const isLegal = (head: string): boolean =>
    head.length <= ROOM + limits.CONDITIONS_MAX ** 2 && askOf(OBSERVATIONS, head, OPTIONS).problems.length === 0;
  return heads.find(isLegal) ?? heads[0]!;
}

/** A value of the whole length, which need not be legal, and the longest that is. */
function headsOfValue(name: string): string[] {
  return FILLS.flatMap((fill) => [
    `${name}=${filled(fill, ROOM, 'x')}`,
    longestLegal((length) => `${name}=${filled(fill, length)}`),
  ]);
}

function headsOfParameter({ name }: Pick<ParameterDeclaration, 'name'>): readonly string[] {
  const repeated = `${name}=${filled('9', ROOM / limits.PARAMETERS_MAX - name.length - 2)}&`;
  return [...headsOfValue(name), filled(repeated, ROOM)];
}

/** As many filters of a lookup as there may be, none the same, that share the room for their values. */
function manyOf(lookup: string, fill: string, length: number, count: number): string {
  const each = Array.from({ length: count }, (_, i) => {
    const [key] = KEYS[i % KEYS.length]!;
    const steps = 'permissions__ob_id__'.repeat((i / KEYS.length) % 3);
    return `${steps}${key}__${lookup}${i % 2 ? '!' : ''}=${filled(fill, Math.ceil(length / count))}`;
  });
  return each.join('&');
}

function headsOfLookup({ name, fits }: Pick<Lookup, 'name' | 'fits'>): readonly string[] {
  const alone = KEYS.filter(([, column]) => fits(column)).flatMap(([key]) => headsOfValue(`${key}__${name}`));
  const many = FILLS.flatMap((fill) =>
    [limits.REGEXES_MAX, limits.CONDITIONS_MAX].map((count) =>
      longestLegal((length) => manyOf(name, fill, length, count)),
    ),
  );
  return [...alone, ...many];
}

const times = (count: number, text: (i: number) => string, separator = ','): string =>
  Array.from({ length: count }, (_, i) => text(i)).join(separator);

/** Names to order by. */
const SCALARS = collectionNamed('observations')!
  .fields.filter(({ kind }) => kind === 'scalar')
  .map(({ name }) => name);

/** The heads that lie at each limit, and those that want more than it. */
const HEADS: Readonly<Record<string, readonly string[]>> = {
  PARAMETERS_MAX: [
    times(limits.PARAMETERS_MAX, (i) => filled(`titl${i}_`, 55), '&'),
    times(limits.PARAMETERS_MAX, (i) => `title__contains=${filled(`${i}`, 40)}`, '&'),
    filled('a&', ROOM),
    filled('&', ROOM),
    filled('=', ROOM),
    filled('a=%', ROOM),
  ],
  CONDITIONS_MAX: [manyOf('exact', 'a', ROOM / 2, limits.CONDITIONS_MAX), manyOf('in', '1,', ROOM, 2000)],
  RELATION_STEPS_MAX: [
    `${filled('permissions__ob_id__', 20 * (limits.RELATION_STEPS_MAX / 2))}title=x`,
    times(limits.CONDITIONS_MAX, (i) => `${'permissions__ob_id__'.repeat(i % 4)}title${'!'.repeat(i % 2)}=${i}`, '&'),
    `${filled('permissions__ob_id__', ROOM)}title=x`,
    `title${filled('__', ROOM)}=x`,
    `title${filled('!', ROOM)}=x`,
  ],
  MEMBERS_MAX: ['ob_id', 'title', 'permissions__ob_id'].flatMap((key) =>
    ['in', 'in!', 'range'].map((lookup) => `${key}__${lookup}=${times(limits.MEMBERS_MAX, (i) => `${i % 999}`)}`),
  ),
  NAMES_MAX: ['fields', 'ordering', 'facets'].map(
    (name) => `${name}=${times(limits.NAMES_MAX, (i) => filled(`tit${i}`, 50))}`,
  ),
  FACETS_MAX: [`facets=${FIELDS.slice(0, limits.FACETS_MAX).join(',')}`, `facets=${times(1000, (i) => `title${i}`)}`],
  ORDER_KEYS_MAX: [
    `ordering=${SCALARS.slice(0, limits.ORDER_KEYS_MAX).join(',-')}`,
    `ordering=${SCALARS.join(',')}&strict=1`,
  ],
  REGEXES_MAX: [times(limits.REGEXES_MAX, (i) => `title__regex${'!'.repeat(i)}=(a%2B)*${i}`, '&')],
  REGEX_LENGTH_MAX: [`title__iregex=${filled('(a*)*', limits.REGEX_LENGTH_MAX)}`],
  REGEX_SIZE_MAX: [`title__iregex=(${filled('[a-z]', 400)})`, 'title__regex=((a%7B99%7D)%7B99%7D)%7B99%7D'],
};

afterEach(() => void vi.restoreAllMocks());

test('heads are made for a key of every type of column', () => {
  const types = new Set<ColumnType>(KEYS.map(([, { type }]) => type));
  for (const { name, fits } of LOOKUPS)
    expect(
      KEYS.some(([, column]) => fits(column)),
      `no key for ${name}`,
    ).toBe(true);
  expect([...types].toSorted()).toEqual(['boolean', 'dateTime', 'integer', 'link', 'text']);
});

describe('no head of 60 kB costs much more than a plain bad value of its length', () => {
  test.each(PARAMETERS.map((row) => [row.name, row] as const))('of the parameter %s', (_, row) => {
    expect(tooDear(headsOfParameter(row), [false, true])).toEqual([]);
  });

  test.each(LOOKUPS.map((row) => [row.name, row] as const))('of the lookup %s', (_, row) => {
    expect(tooDear(headsOfLookup(row))).toEqual([]);
  });

  test.each(Object.entries(HEADS))('at the limit %s', (_, heads) => expect(tooDear(heads, [false, true])).toEqual([]));

  test('nor has a limit been declared without heads that lie at it', () => {
    expect(Object.keys(HEADS).toSorted()).toEqual(
      Object.keys(limits)
        .filter((name) => name.endsWith('_MAX'))
        .toSorted(),
    );
  });
});

test('an order by as many equal fields as there may be leaves the thread of a collection of 4,000 records', () => {
  const names = SCALARS.filter((name) => name !== 'ob_id').slice(0, limits.ORDER_KEYS_MAX);
  const values = names.map((name) => [name, null]);
  const record = (i: number): RecordValue => ({ ob_id: i, status: i % 2 ? 'a' : 'b', ...Object.fromEntries(values) });
  const many = indexesOf({ observations: Array.from({ length: 4000 }, (_, i) => record(i)) })('observations');
  for (const order of [names, ['status', ...names.slice(1)]]) {
    const query = `ordering=${order.join()}&ob_id__gt=5&limit=1`;
    expect(stepsOf(many, query, { options: OPTIONS, budgetNs: BUDGET_NS }).hits).toBeUndefined();
  }
});

describe('a row that is too dear is found', () => {
  /** A reader that looks at all that it has read again, at every thirtieth comma. */
  const carelessly = (text: string): number => {
    let seen = 0;
    for (let at = text.indexOf(','); at >= 0; at = text.indexOf(',', at + 60))
      for (let i = 0; i < at; i++) seen += text.charCodeAt(i) & 1;
    return seen;
  };

  test('of a parameter', () => {
    const row = PARAMETERS.at(-1)!;
    vi.spyOn(row, 'read').mockImplementation((_, value) => void carelessly(value));
    expect(tooDear([`${row.name}=${filled('1,', ROOM)}`])).not.toEqual([]);
  });

  test('of a lookup', () => {
    const row = LOOKUPS.at(-1)!;
    const { parse } = row;
    vi.spyOn(row, 'parse').mockImplementation((type, text, isLenient) => {
      carelessly(text);
      return parse(type, text, isLenient);
    });
    expect(
      tooDear(
        headsOfLookup(row)
          .filter((head) => head.includes('1,1,'))
          .slice(0, 1),
      ),
    ).not.toEqual([]);
  });
});
