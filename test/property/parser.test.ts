// The parser accepts any text: it never throws, and its result is consistent and can be planned.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { QueryOptions } from '../../engine/query/ask.ts';
import { explain } from '../../engine/find/explain.ts';
import { parseRecordQuery } from '../../engine/query/parse.ts';
import { indexOf } from '../support/index.ts';
import { foundAnyway, QUERY_OPTIONS } from '../support/lists.ts';
import { times } from '../support/ring.ts';

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

/** Nearly valid queries: known names and pieces of grammar in any order, with any text in between. */
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

/** Hints after a message: at most three sentences. */
const HINTED =
  /^(?:(?:Did you mean ".*"\?)?\n?(?:Lookups that fit: .*\.)?|Nothing may follow ".*"\.|(?:Write a date as .*\.|A plus in a URL .*\.|Write the id of the record.*\.|Look-around .*\.|At character \d+, ".*": .*\.)?\n?(?:Member \d+ is ".*"\.)?\n?(?:Write it as ".*"\.)?)$/s;

test('parses any text, and plans, explains and executes every request without a problem', () => {
  fc.assert(
    fc.property(fc.oneof(NEARLY, fc.string({ unit: 'binary' })), OPTIONS, (query, options) => {
      const { ask, plan, hits } = foundAnyway(COLLECTION, query, { options });
      expect(ask.page.limit).toBeGreaterThan(0);
      expect(ask.page.limit).toBeLessThanOrEqual(options.limitMax ?? Infinity);
      expect(Number.isSafeInteger(ask.page.offset) && ask.page.offset >= 0).toBe(true);
      expect(new Set(ask.ignored).size).toBe(ask.ignored.length);
      expect(new Set(ask.problems.map(({ key }) => key)).size).toBe(ask.problems.length);
      for (const { key, messages } of ask.problems) {
        const [message, ...hints] = messages;
        expect(message).toMatch(/./);
        // A repeated key has the messages of all its values.
        if (ask.parameters.filter(([name]) => name === key).length > 1) continue;
        // An invalid step has hints with the valid ones, a bad value with its format and its position.
        expect(hints.join('\n')).toMatch(HINTED);
      }
      expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
      expect(explain(plan)).toMatch(/\n$/);
      expect(hits.count).toBeLessThanOrEqual(2);
    }),
    { numRuns: times(1000, 3000) },
  );
});

test('parses any text as the query of a single record', () => {
  fc.assert(
    fc.property(fc.oneof(NEARLY, fc.string({ unit: 'binary' })), fc.boolean(), (query, isStrict) => {
      const { problems, ignored } = parseRecordQuery(query, { ...QUERY_OPTIONS, isStrict });
      // A parameter without effect on a record is refused there, except a misspelt `strict`.
      expect(problems.every(({ key }) => ignored.includes(key) || key === 'strict')).toBe(true);
    }),
    { numRuns: times(300, 1000) },
  );
});
