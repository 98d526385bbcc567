// Ranges of exports: any range at any boundary gives the bytes of the whole file, or the error of RFC 9110, 14.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bytesOf as bodyBytes } from '../support/pages.ts';
import { collectionOf } from '../support/records.ts';
import { requestOf, STAYING } from '../support/requests.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY } from '../support/smallCatalogue.ts';
import type { Answer } from '../../server/http/exchange.ts';

const OBSERVATIONS = collectionOf(
  'observations',
  Array.from({ length: 300 }, (_, i) => {
    const link = i % 3 === 0 ? `,"timePeriod":"{base_url}/api/v3/times/${i}/?format=api"` : '';
    return `{"ob_id":${i + 1},"status":"${i % 2 ? 'final' : 'planned'}","title":"é, ${'"x'.repeat(i % 50).replaceAll('"', '\\"')}"${link}}`;
  }),
  BASE_URL,
);
const LIST = '/api/v3/observations/';
const EXPORTS = {
  'NDJSON as stored': `${LIST}?format=ndjson`,
  'NDJSON of scattered records': `${LIST}?format=ndjson&status=final`,
  'NDJSON of cut records': `${LIST}?format=ndjson&fields=ob_id,title`,
  'NDJSON in order': `${LIST}?format=ndjson&ordering=-title`,
  CSV: `${LIST}?format=csv`,
  'CSV of one column': `${LIST}?format=csv&fields=title`,
  Parquet: `${LIST}?format=parquet`,
  'a record': `${LIST}7/?format=csv`,
  'no records': `${LIST}?format=ndjson&status=none`,
} as const;

const handler = handlerWith(NEVER_HEAVY, {}, (name) =>
  name === 'observations' ? OBSERVATIONS : collectionOf(name, [], BASE_URL),
);
const ask = async (url: string, headers: Readonly<Record<string, string>>, method = 'GET'): Promise<Answer> =>
  handler(requestOf({ url, headers, method }), STAYING);
const bytesOf = ({ body }: Answer): Buffer => bodyBytes(body);
const header = ({ headers }: Answer, name: string): string | undefined => headers.find(([each]) => each === name)?.[1];

describe.each(Object.entries(EXPORTS))('%s', (_, url) => {
  test('gives the bytes of each range, whatever its ends are', async () => {
    const whole = await ask(url, {});
    expect(header(whole, 'Accept-Ranges')).toBe('bytes');
    const file = bytesOf(whole);
    const { length } = file;
    const place = fc.oneof(
      fc.nat(length + 3),
      fc.constantFrom(0, 1, length - 1, length, length + 1, 2 ** 53).map((at) => Math.max(0, at)),
    );
    const ranges = fc.oneof(
      fc.tuple(place, place).map(([a, b]) => ({ text: `${a}-${b}`, start: a, end: b + 1, isOne: a <= b })),
      place.map((a) => ({ text: `${a}-`, start: a, end: length, isOne: true })),
      place.map((n) => ({ text: `-${n}`, start: Math.max(0, length - n), end: length, isOne: true })),
    );
    const codings = fc.constantFrom('', 'gzip', 'identity');
    await fc.assert(
      fc.asyncProperty(ranges, codings, async ({ text, start, end, isOne }, coding) => {
        const answer = await ask(url, { range: `bytes=${text}`, ...(coding && { 'accept-encoding': coding }) });
        if (!isOne) {
          expect(answer.status).toBe(200);
          return;
        }
        const part = file.subarray(start, Math.min(end, length));
        if (part.length === 0) {
          expect([answer.status, header(answer, 'Content-Range')]).toEqual([416, `bytes */${length}`]);
          return;
        }
        expect([answer.status, header(answer, 'Content-Range'), answer.etag]).toEqual([
          206,
          `bytes ${start}-${start + part.length - 1}/${length}`,
          whole.etag,
        ]);
        expect(header(answer, 'Content-Encoding')).toBeUndefined();
        expect(bytesOf(answer).equals(part)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  test.each(['bytes=0-1,3-4', 'bytes=', 'bytes=-', 'bytes=a-b', 'lines=0-1', 'bytes 0-1', 'bytes=1-0', 'bytes=0x1-2'])(
    'is sent whole for %s',
    async (range) => {
      const whole = await ask(url, {});
      const answer = await ask(url, { range });
      expect([answer.status, answer.headers, bytesOf(answer)]).toEqual([200, whole.headers, bytesOf(whole)]);
    },
  );

  test('is sent in part only if If-Range has its strong tag', async () => {
    const { etag = '' } = await ask(url, {});
    const statusIf = async (condition: string): Promise<number> =>
      (await ask(url, { range: 'bytes=0-', 'if-range': condition })).status;
    expect(await statusIf(etag)).toBe(url.endsWith('none') ? 416 : 206);
    for (const other of [`W/${etag}`, '"x"', etag.replace('"', '"x'), 'Sun, 06 Nov 1994 08:49:37 GMT']) {
      expect([other, await statusIf(other)]).toEqual([other, 200]);
    }
  });

  test('answers 304 before a range, and HEAD as without one', async () => {
    const { etag = '', headers, body } = await ask(url, {});
    expect((await ask(url, { range: 'bytes=0-0', 'if-none-match': etag })).status).toBe(304);
    const head = await ask(url, { range: 'bytes=0-0' }, 'HEAD');
    expect([head.status, head.headers, head.body.bytes]).toEqual([200, headers, body.bytes]);
  });
});

test.each([LIST, `${LIST}7/`, '/api/v3/', '/', '/browse/observations/', '/robots.txt'])(
  'no other response has ranges: %s',
  async (url) => {
    const answer = await ask(url, { range: 'bytes=0-1', accept: url.startsWith('/browse') ? 'text/html' : '*/*' });
    expect([answer.status, header(answer, 'Accept-Ranges')]).toEqual([200, 'none']);
  },
);
