// Unusual paths, and the routes of paths without a meaning. Conformance and differential tests have the others.
import { describe, expect, test } from 'vitest';
import { nearestPath, PATH_CHARACTERS_MAX, route } from '../../../../server/catalogue/routes.ts';

/** The collection and id of a record's path, or the kind of any other route. */
function brief(target: string): string {
  const found = route(target);
  return found.kind === 'record' ? `${found.collections.map(({ name }) => name).join('|')} ${found.id}` : found.kind;
}

test.each([
  ['/api/v3/observations/9007199254740991/', 'observations 9007199254740991'],
  ['/api/v3/observations/9007199254740992/', 'observations -1'],
  [`/api/v3/observations/${'9'.repeat(400)}/`, 'observations -1'],
  [`/api/v3/observations/${'0'.repeat(400)}5/`, 'observations 5'],
  ['/api/v3/observations/%2B1%20.json', 'observations 1'],
  ['/api/v3/ProcedureComputations/7/', 'computations|composites 7'],
])('resolves %s to %s: an id beyond 2^53 - 1 is not a record', (target, meaning) => {
  expect(brief(target)).toBe(meaning);
});

test.each([
  '',
  '*',
  '/api',
  '//api/v3/',
  '/api/v3/observations%2F1/',
  '/api/v3/%FFobservations/',
  '/api/v3/__proto__/',
])('does not find %j', (target) => expect(brief(target)).toBe('notFound'));

test.each(['0', ' ', '%20', '/', '.json', '+'])('parses a path with 64 kB of %j in at most one pass', (filling) => {
  expect(brief(`/api/v3/observations/${filling.repeat(64_000 / filling.length)}x/`)).toBe('notFound');
});

describe('a path without a meaning', () => {
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
  ])('suggests for %s the path %s', (target, near) => {
    expect(route(target).kind).toBe('notFound');
    expect(nearestPath(target)).toBe(near);
  });

  test('is not compared if it is longer than that of any view, unless it is resolved', () => {
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
  ])('suggests nothing for %s', (target) => {
    expect(nearestPath(target)).toBeUndefined();
  });
});
