// The parser takes any text: it never throws, and what it gives back keeps its promises and can be planned.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { execute } from '../../engine/query/execute.ts';
import { explain } from '../../engine/query/explain.ts';
import { parseListQuery, parseRecordQuery, type QueryOptions } from '../../engine/query/parse.ts';
import { plan } from '../../engine/query/plan.ts';
import { indexOf } from '../support/index.ts';

const COLLECTION = indexOf('observations', [
  { ob_id: 1, title: 'a', permissions: [{ label: 'x' }], result_field: { volume: 3, oldDataPath: ['p'] } },
  { ob_id: 4, title: '{base_url}/x', dataPublishedTime: '2016-05-04', discoveryKeywords: [{ ob_id: 2, name: 'n' }] },
]);

const OPTIONS: fc.Arbitrary<QueryOptions> = fc.record({
  limitDefault: fc.constant(100),
  limitMax: fc.constantFrom(undefined, 1, 500),
  isStrict: fc.boolean(),
  filterErrors: fc.constantFrom('fail', 'empty', 'ignore'),
  filters: fc.constantFrom('all', 'documented'),
});

/** Queries that are nearly right: known names and pieces of grammar in any order, with any text between. */
const NEARLY = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'ob_id',
        'title',
        'permissions',
        'result_field',
        'volume',
        'oldDataPath',
        'dataPublishedTime',
        'projects',
      ),
      fc.constantFrom(
        '__',
        '__exact',
        '__in',
        '__contains',
        '__startswith',
        '!',
        '=',
        '&',
        ',',
        '%',
        '%zz',
        '%00',
        '+',
        '_',
      ),
      fc.constantFrom(
        'limit=',
        'offset=',
        'format=',
        'strict=1',
        '__proto__',
        'constructor',
        'toString',
        '9'.repeat(400),
      ),
      fc.string({ unit: 'binary', maxLength: 5 }),
    ),
    { maxLength: 20 },
  )
  .map((pieces) => pieces.join(''));

test('any text is parsed, and every request that has no problem can be planned, explained and executed', () => {
  fc.assert(
    fc.property(fc.oneof(NEARLY, fc.string({ unit: 'binary' })), OPTIONS, (query, options) => {
      const request = parseListQuery(COLLECTION, query, options);
      expect(request.limit).toBeGreaterThan(0);
      expect(request.limit).toBeLessThanOrEqual(options.limitMax ?? Infinity);
      expect(Number.isSafeInteger(request.offset) && request.offset >= 0).toBe(true);
      expect(new Set(request.ignored).size).toBe(request.ignored.length);
      expect(request.problems.every(({ messages }) => messages.length === 1)).toBe(true);
      const made = plan(COLLECTION, request, {
        baseUrl: 'http://localhost:8080',
        version: 'v3',
        linkEnd: '/?format=api',
      });
      expect(JSON.parse(JSON.stringify(made))).toEqual(made);
      expect(explain(made)).toMatch(/\n$/);
      const listed = execute(COLLECTION, made);
      expect(listed?.count).toBeLessThanOrEqual(2);
    }),
    { numRuns: 3000 },
  );
});

test('any text is parsed as the query of a single record', () => {
  fc.assert(
    fc.property(fc.oneof(NEARLY, fc.string({ unit: 'binary' })), fc.boolean(), (query, isStrict) => {
      const request = parseRecordQuery(query, { isStrict });
      expect(request.problems.every(({ key }) => request.ignored.includes(key))).toBe(true);
    }),
    { numRuns: 1000 },
  );
});
