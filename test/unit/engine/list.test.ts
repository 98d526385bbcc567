// The way of a list, step by step: whom it asks in which order, where it ends early, and which page comes out.
import { describe, expect, test } from 'vitest';
import { answerList, type Asker, type List, listHere } from '../../../engine/list.ts';
import { measuringOf, type Representation } from '../../../engine/page/representation.ts';
import { measured } from '../../../engine/page/rows.ts';
import type { Ask } from '../../../engine/query/ask.ts';
import { Meter } from '../../../engine/find/counters.ts';
import type { Hits } from '../../../engine/find/execute.ts';
import { collectionOf } from '../../support/collections.ts';
import { FORM, QUERY_OPTIONS } from '../../support/lists.ts';
import { textOf } from '../../support/pages.ts';

const PATH = '/api/v3/observations/';
const ADDRESS = `${FORM.baseUrl}${PATH}`;
const OBSERVATIONS = collectionOf(
  'observations',
  Array.from({ length: 8 }, (_, i) => `{"ob_id":${i * 10},"title":"t${i % 2}"}`),
  FORM.baseUrl,
);
const HITS: Hits = { count: 8, rows: { kind: 'range', start: 2, end: 4 }, offset: 2, facets: [] };

/** An asker that keeps what it is asked and given, and finds rows without looking. */
class Recorder implements Asker<string> {
  readonly options = { ...QUERY_OPTIONS, limitDefault: 2 };
  readonly path = PATH;
  readonly calls: string[] = [];
  readonly given: unknown[] = [];
  stopped: string | undefined;
  found: Hits | undefined | Promise<Hits | undefined> = HITS;

  stop(ask: Ask): string | undefined {
    this.#note('stop', ask);
    return this.stopped;
  }
  formOf(ask: Ask): typeof FORM {
    this.#note('formOf', ask);
    return FORM;
  }
  find(list: List): Hits | undefined | Promise<Hits | undefined> {
    this.#note('find', list);
    return this.found;
  }
  miss(list: List): string {
    this.#note('miss', list);
    return 'missed';
  }
  answer(page: Representation, hits: Hits, list: List): string {
    this.#note('answer', page, hits, list);
    return 'answered';
  }
  #note(call: string, ...given: readonly unknown[]): void {
    this.calls.push(call);
    this.given.push(...given);
  }
}

describe('a list', () => {
  test('is asked for, judged, planned, found and answered, in this order, each time with what is known by then', () => {
    const asker = new Recorder();
    expect(answerList(OBSERVATIONS, 'title=t1&offset=2', asker)).toBe('answered');
    expect(asker.calls).toEqual(['stop', 'formOf', 'find', 'answer']);
    const [ask, again, list, page, hits, found] = asker.given;
    expect(ask).toMatchObject({ conditions: [{ path: ['title'] }], page: { offset: 2, limit: 2 } });
    expect([again, found, hits]).toEqual([ask, list, HITS]);
    expect(list).toMatchObject({ ask, plan: { page: (ask as Ask).page, form: FORM } });
    expect((list as List).collection).toBe(OBSERVATIONS);
    expect(page).toMatchObject({ format: 'json', rows: { rows: HITS.rows, form: FORM } });
  });

  test('that is stopped is neither planned nor found', () => {
    const asker = new Recorder();
    asker.stopped = 'no';
    expect(answerList(OBSERVATIONS, 'ob_id=x', asker)).toBe('no');
    expect(asker.calls).toEqual(['stop']);
    expect(asker.given).toMatchObject([{ problems: [{ key: 'ob_id' }] }]);
  });

  test('that is found later is answered later', async () => {
    const asker = new Recorder();
    asker.found = Promise.resolve(HITS);
    const answer = answerList(OBSERVATIONS, '', asker);
    expect(answer).toBeInstanceOf(Promise);
    expect(asker.calls).toEqual(['stop', 'formOf', 'find']);
    expect(await answer).toBe('answered');
    expect(asker.calls).toEqual(['stop', 'formOf', 'find', 'answer']);
  });

  test.each([
    ['at once', (): undefined => undefined],
    ['later', (): Promise<undefined> => Promise.resolve(undefined)],
  ])('that is not found, as is known %s, is missed', async (_when, found) => {
    const asker = new Recorder();
    asker.found = found();
    expect(await answerList(OBSERVATIONS, '', asker)).toBe('missed');
    expect(asker.calls).toEqual(['stop', 'formOf', 'find', 'miss']);
    expect(asker.given.at(-1)).toBe(asker.given.at(-2));
  });

  test('whose finding fails fails with that', async () => {
    const asker = new Recorder();
    asker.found = Promise.reject(new Error('a bug'));
    await expect(answerList(OBSERVATIONS, '', asker)).rejects.toThrow('a bug');
    expect(asker.calls).toEqual(['stop', 'formOf', 'find']);
  });
});

const HERE = { options: { ...QUERY_OPTIONS, limitDefault: 2 }, form: FORM, path: PATH };

/** The page of a query as text, and its format. */
function pageOf(query: string): readonly [format: string, text: string] {
  const { page } = listHere(OBSERVATIONS, query, HERE);
  return [page!.format, bytesOf(page!)];
}

function bytesOf(page: Representation): string {
  return textOf(measured(measuringOf(page)));
}

describe('the page of a list', () => {
  const record = (i: number): string => `{"ob_id":${i * 10},"title":"t${i % 2}"}`;

  test.each([
    ['', 8, 'limit=2&offset=2', undefined, [0, 1]],
    ['offset=2&format=api', 8, 'format=api&limit=2&offset=4', 'format=api&limit=2', [2, 3]],
    ['title=t1&offset=3', 4, undefined, 'limit=2&offset=1&title=t1', [7]],
    ['offset=9', 8, undefined, 'limit=2&offset=7', []],
    ['ordering=-ob_id&limit=3', 8, 'limit=3&offset=3&ordering=-ob_id', undefined, [7, 6, 5]],
    ['after=20', 8, 'after=40&limit=2', undefined, [3, 4]],
    ['after=21&title=t0', 4, undefined, undefined, [4, 6]],
    ['after=60&limit=7', 8, undefined, undefined, [7]],
    ['after=70', 8, undefined, undefined, []],
  ])('of %j has the count, both links and the records', (query, count, next, previous, rows) => {
    const link = (text: string | undefined): string => (text === undefined ? 'null' : `"${ADDRESS}?${text}"`);
    const records = rows.map(record).join(',');
    const text = `{"count":${count},"next":${link(next)},"previous":${link(previous)},"results":[${records}]}`;
    expect(pageOf(query)).toEqual(['json', text]);
  });

  test('has the facets behind the records', () => {
    expect(pageOf('facets=title&limit=1&title=t1')[1]).toMatch(/\],"facets":\{"title":\{"t1":4\}\}\}$/);
  });

  test('is cut to the fields asked for', () => {
    expect(pageOf('fields=title&title=t0')[1]).toContain('"results":[{"title":"t0"},{"title":"t0"}]}');
  });

  test('leads on in the generation of its asker', () => {
    const asker = new Recorder();
    const pinned = Object.assign(asker, { options: { ...asker.options, pinsWalks: true }, generation: 'abcdef' });
    void answerList(OBSERVATIONS, 'generation=abc&offset=2', pinned);
    const text = bytesOf(asker.given.at(-3) as Representation);
    expect(text).toContain(`"next":"${ADDRESS}?generation=abcdef&limit=2&offset=4"`);
    expect(text).toContain(`"previous":"${ADDRESS}?generation=abcdef&limit=2"`);
  });

  test('as ndjson is its records alone, a line each, all of them where no limit is set', () => {
    const lines = Array.from({ length: 8 }, (_, i) => `${record(i)}\n`);
    expect(pageOf('format=ndjson')).toEqual(['ndjson', lines.join('')]);
    expect(pageOf('format=ndjson&limit=3&after=10')).toEqual(['ndjson', lines.slice(2, 5).join('')]);
  });

  test('as csv has a row of names and then its records', () => {
    expect(pageOf('format=csv&fields=title,ob_id&limit=2')).toEqual(['csv', 'ob_id,title\r\n0,t0\r\n10,t1\r\n']);
    expect(pageOf('format=csv&fields=title&title=none')).toEqual(['csv', 'title\r\n']);
  });
});

describe('a list found here', () => {
  test('has every step at hand, and the work counted', () => {
    const meter = new Meter();
    const { ask, plan, hits, page } = listHere(OBSERVATIONS, 'limit=3', { ...HERE, meter });
    expect(ask.problems).toEqual([]);
    expect(plan!.page).toBe(ask.page);
    expect(hits).toMatchObject({ count: 8, offset: 0 });
    expect(bytesOf(page!)).toContain(`"count":8,"next":"${ADDRESS}?limit=3&offset=3"`);
    expect(meter.counters.rowsTouched).toBe(3);
  });

  test('with problems ends with what was asked', () => {
    const steps = listHere(OBSERVATIONS, 'ob_id=x', HERE);
    expect(steps).toEqual({ ask: expect.objectContaining({ problems: [expect.objectContaining({ key: 'ob_id' })] }) });
  });

  test('without the budget for it ends with its plan', () => {
    const steps = listHere(OBSERVATIONS, 'title__contains=t', { ...HERE, meter: new Meter(0) });
    expect(Object.keys(steps)).toEqual(['ask', 'plan']);
  });
});
