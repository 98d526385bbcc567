import { describe, expect, test } from 'vitest';
import { requestOf, STAYING } from '../../../support/requests.ts';
import { handlerWith, HEAVY, LONG, NEVER_HEAVY } from '../../../support/smallCatalogue.ts';

describe('a conditional request', () => {
  test('with a made-up coding in its tag misleads only its own client', async () => {
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

  test('for a heavy query gets its response without leaving the thread', async () => {
    const url = `/api/v3/observations/?title__contains=${LONG}`;
    const handler = handlerWith(NEVER_HEAVY, {}, () => HEAVY);
    const answer = handler(requestOf({ url, headers: { 'if-none-match': '*' } }), STAYING);
    expect(answer).not.toBeInstanceOf(Promise);
    expect((await answer).status).toBe(304);
  });
});
