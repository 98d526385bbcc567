// Paths and what they mean, over the whole declaration.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nearestPath, PATH_CHARACTERS_MAX, route } from '../../../../server/catalogue/routes.ts';

function brief(target: string): string {
  const found = route(target);
  switch (found.kind) {
    case 'root':
      return `root ${found.version}${found.ending ? ` ${found.ending}` : ''}`;
    case 'list':
      return `list ${found.version} ${found.collection.name}${found.ending ? ` ${found.ending}` : ''}`;
    case 'record': {
      const names = found.collections.map(({ name }) => name).join('|');
      return `record ${found.version} ${names} ${found.id}${found.ending ? ` ${found.ending}` : ''}`;
    }
    case 'redirect':
      return `redirect ${found.location}`;
    default:
      return found.kind;
  }
}

test.each([
  ['/', 'index'],
  ['/api/v3/', 'root v3'],
  ['/api/v3/.json', 'root v3 json'],
  ['/api/v3', 'redirect /api/v3/'],
  ['/api/v3/ProcedureComputations/', 'list v3 computations'],
  ['/api/v3/ProcedureComputations/7/', 'record v3 computations|composites 7'],
  ['/api/v2/ProcedureComputations/7.json', 'record v2 computations|composites 7 json'],
  ['/api/v3/observations/%2B1%20.json', 'record v3 observations 1 json'],
  ['/api/v3/observations/0/', 'record v3 observations 0'],
  ['/api/v3/observations/1%20', 'redirect /api/v3/observations/1%20/'],
  ['/api/v3/%6Fbservations/', 'list v3 observations'],
  ['/api/v3/%6Fbservations', 'redirect /api/v3/%6Fbservations/'],
  ['/api/v3/observations%2Ejson', 'list v3 observations json'],
  ['/%61pi/v3/', 'root v3'],
])('%s means %s', (target, meaning) => {
  expect(brief(target)).toBe(meaning);
});

test.each([
  '',
  '*',
  '/api',
  '/api/v1/',
  '/API/v3/',
  '/api/v3/nothing',
  '//api/v3/',
  '/api/v3//',
  '/api/v3/observations/1//',
  '/api/v3/observations/1/2/',
  '/api/v3/observations/abc/',
  '/api/v3/observations/-1/',
  '/api/v3/observations/1.5/',
  '/api/v3/observations/1e3/',
  '/api/v3/observations/0x1/',
  '/api/v3/observations/1_0/',
  '/api/v3/observations/1 2/',
  '/api/v3/observations/++1/',
  '/api/v3/observations/.json',
  '/api/v3/observations/1.xml',
  '/api/v3/observations.json/1/',
  '/api/v3/observations%2F1/',
  '/api/v3/observations/%zz/',
  '/api/v3/%FFobservations/',
  '/api/v3/__proto__/',
])('%s is not found', (target) => {
  expect(brief(target)).toBe('notFound');
});

test('an id up to 2^53 - 1 is exact, and a larger one is no record at all', () => {
  expect(brief('/api/v3/observations/9007199254740991/')).toBe('record v3 observations 9007199254740991');
  expect(brief('/api/v3/observations/9007199254740992/')).toBe('record v3 observations -1');
  expect(brief('/api/v3/observations/9007199254740993/')).toBe('record v3 observations -1');
  expect(brief(`/api/v3/observations/${'9'.repeat(400)}/`)).toBe('record v3 observations -1');
  expect(brief(`/api/v3/observations/${'0'.repeat(400)}5/`)).toBe('record v3 observations 5');
});

describe('any target', () => {
  const part = fc.oneof(
    fc.constantFrom(
      '/',
      '//',
      'api',
      'v2',
      'v3',
      'observations',
      'identifier',
      '.json',
      '1',
      '+',
      '%20',
      '%2F',
      '%',
      '#',
    ),
    fc.string({ unit: 'binary', maxLength: 5 }),
  );
  const target = fc.oneof(
    fc.array(part, { maxLength: 10 }).map((parts) => parts.join('')),
    fc.array(part, { maxLength: 4 }).map((parts) => `/api/v3/${parts.join('')}`),
  );

  test('has a meaning; a redirection only adds a slash and leads to a view', () => {
    fc.assert(
      fc.property(target, (text) => {
        const found = route(text);
        if (found.kind !== 'redirect') return;
        expect(found.location).toBe(`${text}/`);
        expect(['root', 'list', 'record']).toContain(route(found.location).kind);
      }),
      { numRuns: 5000 },
    );
  });

  test('of 64 kB takes no more than one pass', () => {
    for (const filling of ['0', ' ', '%20', '/', '.json', '+']) {
      expect(brief(`/api/v3/observations/${filling.repeat(64_000 / filling.length)}x/`)).toBe('notFound');
    }
  });
});

describe('a path that means nothing', () => {
  test.each([
    ['/api/v3/observation/', '/api/v3/observations/'],
    ['/api/v3/observation', '/api/v3/observations/'],
    ['/api/v2/obsrevations/', '/api/v2/observations/'],
    ['/api/v3/observation/17/', '/api/v3/observations/17/'],
    ['/api/v3/observation/17', '/api/v3/observations/17/'],
    ['/api/v3/observations.cvs', '/api/v3/observations.csv'],
    ['/api/v3/observations.xml', '/api/v3/observations/'],
    ['/api/v3/observaitons.csv', '/api/v3/observations.csv'],
    ['/api/v1/observations/', '/api/v3/observations/'],
    ['/observations/', '/api/v3/observations/'],
    ['//api/v3/observations/', '/api/v3/observations/'],
    ['/api/v3//observations//17', '/api/v3/observations/17'],
    ['//api//v3/', '/api/v3/'],
    ['//api/v3/observation/17/', '/api/v3/observations/17/'],
    ['/api/v2/migrationproperties/', '/api/v3/migrationproperties/'],
  ])('%s stands for %s', (target, near) => {
    expect(route(target).kind).toBe('notFound');
    expect(nearestPath(target)).toBe(near);
  });

  test('a path that is longer than that of any view is not looked at, but where one is resolved', () => {
    const long = (start: string, rest: string): string => start + rest.repeat(PATH_CHARACTERS_MAX);
    for (const target of [long('/browse/', '/'), long('/%41', '/a'), long('/api/v3/observations/', '0') + '17/']) {
      expect(route(target)).toEqual({ kind: 'notFound' });
    }
    expect(route(long('/api/v0/obs/get_info', '/a')).kind).toBe('resolution');
    const encoded = '/api/v3/observationcollections/'.replaceAll(
      /[a-z]/g,
      (letter) => `%${letter.charCodeAt(0).toString(16)}`,
    );
    expect(route(`${encoded}${'%20'.repeat(100)}17.json/`).kind).toBe('record');
  });

  test.each([
    '/wp-login.php',
    '/api/v3/nothing/',
    '/api/v3/%zz/',
    '/favicon.ico',
    '//',
    '//browse//observations/',
    `/${'observations'.repeat(20)}/`,
    '',
  ])('%s stands for nothing', (target) => {
    expect(nearestPath(target)).toBeUndefined();
  });
});
