// The table of parameters, and what holds for each of its rows: where it is heeded, which of several counts, what links
// make of it, in which order remarks come, and its line in the guide for client authors.
import { describe, expect, test } from 'vitest';
import type { Ask, QueryOptions } from '../../../../engine/query/ask.ts';
import { pageLinks } from '../../../../engine/query/links.ts';
import { parameterNames, PARAMETERS } from '../../../../engine/query/parameters.ts';
import { parametersTable } from '../../../support/documentTables.ts';
import { parseRecordQuery } from '../../../../engine/query/parse.ts';
import type { View } from '../../../../engine/query/readers.ts';
import { indexOf } from '../../../support/index.ts';
import { askOf, QUERY_OPTIONS } from '../../../support/lists.ts';
import { randomOf } from '../../../support/random.ts';

const OBSERVATIONS = indexOf('observations', []);
const VIEWS: readonly View[] = ['list', 'record', 'root', 'lookup'];
/** Every setting that a parameter depends on is on. */
const ALL: QueryOptions = { ...QUERY_OPTIONS, mayExplain: true, pinsWalks: true };

/** Two values of each parameter that mean different things. */
const VALUES: Readonly<Record<string, readonly [first: string, last: string]>> = {
  format: ['csv', 'json'],
  strict: ['1', '0'],
  limit: ['7', '8'],
  offset: ['3', '4'],
  fields: ['title', 'uuid'],
  ordering: ['status', '-title'],
  after: ['30', '40'],
  facets: ['status', 'language,publicationState'],
  explain: ['1', '0'],
  generation: ['abc', 'def'],
  pretty: ['1', '0'],
};

function askIn(view: View, query: string, options: QueryOptions): Ask {
  if (view === 'list') return askOf(OBSERVATIONS, query, options);
  if (view === 'lookup') return parseRecordQuery(query, options, undefined, []);
  return parseRecordQuery(query, options, view === 'record' ? OBSERVATIONS.keys : undefined);
}

/** What is understood of a query, without its text. */
function meaningOf(query: string): Omit<Ask, 'parameters'> {
  const { parameters: _parameters, ...meaning } = askOf(OBSERVATIONS, query, ALL);
  return meaning;
}

test('names are unique, and each is of some view', () => {
  const names = PARAMETERS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(PARAMETERS.every(({ views }) => views.length > 0 && new Set(views).size === views.length)).toBe(true);
  expect(Object.keys(VALUES).toSorted(), 'VALUES has two of each parameter').toEqual(names.toSorted());
});

describe.each(PARAMETERS.map((row) => [row.name, row] as const))('%s', (name, { views, setting, isJoined }) => {
  const [first, last] = VALUES[name] ?? ['', ''];

  test.each(VIEWS)('is heeded by a %s where it is declared for it, else an unknown name', (view) => {
    const isHeeded = views.includes(view);
    expect(parameterNames(view, ALL).includes(name)).toBe(isHeeded);
    const { ignored, problems } = askIn(view, `${name}=${first}`, { ...ALL, isStrict: true });
    expect({ ignored, problems: problems.map(({ key }) => key) }).toEqual(
      isHeeded ? { ignored: [], problems: [] } : { ignored: [name], problems: [name] },
    );
  });

  test.each(VIEWS)('is an unknown name to a %s without its setting', (view) => {
    const without = { ...ALL, ...(setting && { [setting]: false }) };
    const isHeeded = views.includes(view) && setting === undefined;
    expect(parameterNames(view, without).includes(name)).toBe(isHeeded);
    const { ignored, page, isExplained, generation } = askIn(view, `${name}=${first}`, without);
    expect(ignored).toEqual(isHeeded ? [] : [name]);
    if (isHeeded) return;
    const unasked = askIn(view, '', without);
    expect({ page, isExplained, generation }).toEqual({
      page: unasked.page,
      isExplained: false,
      generation: undefined,
    });
  });

  test(`has ${isJoined ? 'its values joined' : 'its last value, and is named and in strict mode refused,'} if it is repeated`, () => {
    // A name without effect tells strict from not strict.
    const meaning = meaningOf(`foo=1&${name}=${last}`);
    expect(meaning).not.toEqual(meaningOf(`foo=1&${name}=${first}`));
    for (const before of [first, last, 'nonsense', '']) {
      const repeated = `foo=1&${name}=${before}&${name}=${last}`;
      if (isJoined) {
        expect(meaningOf(repeated), before).toEqual(meaningOf(`foo=1&${name}=${before},${last}`));
        continue;
      }
      const { ignored, problems, ...others } = meaningOf(repeated);
      expect({ ...others, problems, ignored: ignored.filter((each) => each !== name) }, before).toEqual(meaning);
      expect(ignored).toContain(name);
      const { problems: strictly } = askOf(OBSERVATIONS, `${repeated}&strict=1`, ALL);
      expect(strictly.find(({ key }) => key === name)?.messages, before).toContain(
        'This parameter is repeated, and only its last value counts.',
      );
    }
  });

  test.each(VIEWS)('is repeated in a %s as in others', (view) => {
    const { ignored, problems } = askIn(view, `${name}=${last}&${name}=${last}`, ALL);
    expect({ ignored, problems }).toEqual({ ignored: isJoined && views.includes(view) ? [] : [name], problems: [] });
  });
});

describe('links between pages', () => {
  const namesIn = (link: string | null): readonly string[] => [...new URL(link!).searchParams.keys()];
  /** The names of all parameters in the links of a page in the middle of a list, at an offset and behind an id. */
  const namesOf = (query: string, options: QueryOptions, generation?: string): ReadonlySet<string> => {
    const ask = askOf(OBSERVATIONS, query, options);
    const place = { address: 'http://h/', count: 1000, offset: 300, generation };
    const { next, previous } = pageLinks(ask, options, place);
    const behind = pageLinks(ask, options, { ...place, lastId: 4711 });
    expect(behind.previous).toBeNull();
    return new Set([next, previous, behind.next].flatMap(namesIn));
  };
  const written = PARAMETERS.filter(({ isWritten }) => isWritten).map(({ name }) => name);

  test('write the parameters that are declared as theirs, and no others', () => {
    expect([...namesOf('', ALL, 'abc')].toSorted()).toEqual(written.toSorted());
  });

  test('repeat all others, filters and unknown names too, and of their own none as it was asked for', () => {
    const query = PARAMETERS.map(({ name }) => `${name}=asked&${name}=asked`).join('&');
    const ask = askOf(OBSERVATIONS, `${query}&title=asked&foo=asked`, ALL);
    const place = { address: 'http://h/', count: 1000, offset: 300, generation: 'abc' };
    for (const link of Object.values(pageLinks(ask, ALL, place))) {
      const repeated = [...new URL(link!).searchParams].flatMap(([name, value]) => (value === 'asked' ? [name] : []));
      const names = ['title', 'foo', ...PARAMETERS.flatMap(({ name, isWritten }) => (isWritten ? [] : [name, name]))];
      expect(repeated).toEqual(names.toSorted());
    }
  });

  test('repeat what is an unknown name without its setting', () => {
    const settled = PARAMETERS.filter(({ setting }) => setting).map(({ name }) => name);
    expect(settled.length).toBeGreaterThan(0);
    for (const name of settled) expect(namesOf(`${name}=x`, QUERY_OPTIONS)).toContain(name);
  });
});

describe('remarks', () => {
  const SEED = 23;
  /** What each says that is without effect, and whether it is refused in strict mode only. */
  const REMARKED = [
    { text: 'foo=1', ignored: 'foo', isRefused: 'strictly' },
    { text: 'ordering=bar', ignored: ['ordering', 'bar'], isRefused: 'strictly' },
    { text: 'fields=baz', ignored: ['fields', 'baz'], isRefused: 'strictly' },
    { text: 'facets=qux', ignored: undefined, isRefused: 'always' },
    { text: 'after=x', ignored: undefined, isRefused: 'always' },
    { text: 'ob_id=x', ignored: undefined, isRefused: 'always' },
    { text: 'title__y!=1', ignored: undefined, isRefused: 'always' },
    { text: 'zap', ignored: 'zap', isRefused: 'strictly' },
    { text: 'limit=x', ignored: undefined, isRefused: 'strictly' },
    { text: 'status=completed', ignored: undefined, isRefused: 'never' },
  ] as const;
  const keyOf = (text: string): string => text.replace(/=.*/, '');

  test.each([false, true])(
    `come in query order across parameters and filters, strict: %s (seed ${SEED})`,
    (isStrict) => {
      const random = randomOf(SEED);
      for (let i = 0; i < 300; i++) {
        const shuffled = random.shuffled(REMARKED);
        const query = shuffled.map(({ text }) => text).join('&');
        const { ignored, problems } = askOf(OBSERVATIONS, query, { isStrict });
        expect(ignored, query).toEqual(shuffled.flatMap((each) => (each.ignored === undefined ? [] : [each.ignored])));
        const refused = shuffled.filter(
          (each) => each.isRefused === 'always' || (isStrict && each.isRefused === 'strictly'),
        );
        expect(
          problems.map(({ key }) => key),
          query,
        ).toEqual(refused.map(({ text }) => keyOf(text)));
      }
    },
  );

  test('are the same wherever strict, format and the other parameters that others depend on stand', () => {
    const random = randomOf(SEED);
    const asked = [
      'strict=1',
      'format=csv',
      'limit=7',
      'offset=0',
      'facets=status,nope',
      'ordering=foo,-title',
      'after=1',
    ];
    const meanings = Array.from({ length: 200 }, () => {
      const { problems, ignored, ...meaning } = meaningOf(random.shuffled(asked).join('&'));
      return { ...meaning, ignored, problems: problems.toSorted((a, b) => (a.key < b.key ? -1 : 1)) };
    });
    expect(meanings[0]).toMatchObject({
      page: { format: 'csv', limit: 7, facets: [], after: 1, order: [{ path: ['title'], isDescending: true }] },
      problems: [
        { key: 'after', messages: ['Not together with "ordering".', 'Not together with "offset".'] },
        { key: 'facets', messages: ['Unknown field "nope".'] },
        { key: 'ordering', messages: ['Unknown field "foo".'] },
      ],
    });
    for (const meaning of meanings) expect(meaning).toEqual(meanings[0]);
  });
});

describe('the table for the guide', () => {
  test('has a line of Markdown per parameter', () => {
    const lines = parametersTable().split('\n');
    expect(lines).toHaveLength(PARAMETERS.length + 2);
    const names = lines.slice(2).map((line) => /^\| `(\w+)` \| [^|]+ \| [^|]+ \| [^|]+ \|$/.exec(line)?.[1]);
    expect(names).toEqual(PARAMETERS.map(({ name }) => name));
    expect(lines).toContain('| `offset` | lists | an integer from 0 | the first record of the page |');
  });

  test('says of which views a parameter is', () => {
    const lines = parametersTable().split('\n').slice(2);
    PARAMETERS.forEach(({ views, value, meaning }, i) => {
      const ofAll = ['lists', 'records', 'root views', 'look-ups'].slice(0, views.length);
      expect(lines[i]).toContain(`| ${ofAll.join(', ')} | ${value} | ${meaning} |`);
    });
  });
});
