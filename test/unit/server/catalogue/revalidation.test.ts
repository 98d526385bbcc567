// The catalogue's handler asked under conditions: 304 wherever the answer would be 200, and nowhere else.
import { describe, expect, test } from 'vitest';
import { formHandler } from '../../../support/formCatalogue.ts';
import { requestOf, STAYING } from '../../../support/requests.ts';
import { ask, handlerWith, HEAVY, LONG, NEVER_HEAVY } from '../../../support/smallCatalogue.ts';

describe('a conditional request', () => {
  const list = '/api/v3/observations/?title=ocean&limit=2';
  const urls = ['/', '/api/v3/', list, `${list}&format=csv`, '/api/v3/observations/3/', '/api/v2/observations/3.json'];

  test.each(urls)('that has the answer to %s already gets 304, at once and again', async (url) => {
    const first = await ask(url);
    expect(first.etag).toMatch(/^"[0-9a-f]{16}-[0-9a-f]{16}"$/);
    expect(first.headers['Last-Modified']).toBe('Mon, 01 Jan 2024 00:00:00 GMT');
    for (const method of ['GET', 'HEAD']) {
      const { status, etag, text } = await ask({ method, url, headers: { 'if-none-match': first.etag! } });
      expect([status, etag, text]).toEqual([304, first.etag, '']);
    }
    expect((await ask({ url, headers: { 'if-none-match': '"x"' } })).text).toBe(first.text);
    const since = { 'if-modified-since': 'Mon, 01 Jan 2024 00:00:00 GMT' };
    expect((await ask({ url, headers: since })).status).toBe(304);
  });

  test('with a date is as new as the settings, not only as the data', async () => {
    const handler = formHandler({}, Date.UTC(2024, 5, 1, 0, 0, 0, 500));
    const answerTo = async (since: string, coding: string): Promise<readonly unknown[]> => {
      const headers = { 'if-modified-since': since, 'accept-encoding': coding };
      const { status, headers: lines } = await handler(requestOf({ url: list, headers }), STAYING);
      return [status, Object.fromEntries(lines)['Last-Modified']];
    };
    const modified = 'Sat, 01 Jun 2024 00:00:00 GMT';
    for (const coding of ['gzip', 'identity']) {
      expect(await answerTo('Mon, 01 Jan 2024 00:00:00 GMT', coding)).toEqual([200, modified]);
      expect(await answerTo(modified, coding)).toEqual([304, undefined]);
    }
  });

  test('that makes up how a body was made lies to itself alone', async () => {
    const handler = handlerWith(NEVER_HEAVY, { gzip: 'live' }, () => HEAVY);
    const answerTo = async (condition: Readonly<Record<string, string>>): Promise<readonly [number, string]> => {
      const headers = { 'accept-encoding': 'gzip', ...condition };
      const { status, etag = '' } = await handler(
        requestOf({ url: '/api/v3/observations/?limit=50', headers }),
        STAYING,
      );
      return [status, etag];
    };
    const [, tag] = await answerTo({});
    expect(tag).toMatch(/-z"$/);
    const madeUp = tag.replace('-z', '-s');
    for (let i = 0; i < 2; i++) expect(await answerTo({ 'if-none-match': madeUp })).toEqual([304, madeUp]);
    expect(await answerTo({ 'if-none-match': '*' })).toEqual([304, tag]);
    expect(await answerTo({ 'if-none-match': tag })).toEqual([304, tag]);
  });

  test('to a heavy query is answered without leaving the thread', async () => {
    const url = `/api/v3/observations/?title__contains=${LONG}`;
    const handler = handlerWith(NEVER_HEAVY, {}, () => HEAVY);
    const answer = handler(requestOf({ url, headers: { 'if-none-match': '*' } }), STAYING);
    expect(answer).not.toBeInstanceOf(Promise);
    expect((await answer).status).toBe(304);
  });
});
