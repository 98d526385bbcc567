// Settings that change bodies are part of their tags: for another value of any setting, a different body must have a
// different tag. A new setting does not compile here before it has another value.
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { CatalogueSettings } from '../../../../server/catalogue/catalogue.ts';
import type { Answer } from '../../../../server/http/exchange.ts';
import { FORM_REQUESTS, formHandler } from '../../../support/formCatalogue.ts';
import { textOf } from '../../../support/pages.ts';
import { type RequestParts, requestOf, STAYING } from '../../../support/requests.ts';

const OTHER_URL = 'https://other.example.org';

/** Values of every setting other than the default. */
const OTHERS: { readonly [K in keyof CatalogueSettings]: readonly CatalogueSettings[K][] } = {
  baseUrl: [OTHER_URL],
  allowBaseUrls: [[OTHER_URL]],
  trustedProxies: [['10.0.0.0/8']],
  recordUrl: ['https://pages.example.org/{collection}/{id}'],
  siteName: ['Other'],
  siteContact: ['help@example.org'],
  siteLicence: ['https://example.org/licence'],
  links: ['request'],
  limitMax: [1],
  strict: [true],
  filterErrors: ['empty', 'ignore'],
  filters: ['documented'],
  explain: [true],
  browseOnApi: [true],
  pinWalks: [true],
  cors: [false],
  cacheControl: ['no-store'],
  gzip: ['live', 'off'],
  serverTiming: [true],
  answerCacheMb: [0],
};
const CASES = Object.entries(OTHERS).flatMap(([name, values]) => values.map((value) => ({ name, value })));

/** The tag and body of each response with a tag, under these settings and the defaults of the others. */
async function taggedUnder(changed: Partial<CatalogueSettings>): Promise<ReadonlyMap<RequestParts, Tagged>> {
  const handler = formHandler(changed);
  const found = new Map<RequestParts, Tagged>();
  for (const request of FORM_REQUESTS) {
    const answer = await answerOf(handler, request);
    if (answer.etag) found.set(request, { tag: answer.etag, body: textOf(answer.body) });
  }
  return found;
}

interface Tagged {
  readonly tag: string;
  readonly body: string;
}

async function answerOf(handler: ReturnType<typeof formHandler>, request: RequestParts): Promise<Answer> {
  // Live compression within one turn of the event loop is bounded.
  await setImmediate();
  return handler(requestOf(request), STAYING);
}

describe('a tag under another value', async () => {
  const before = await taggedUnder({});
  const bodies = new Map([...before.values()].map(({ tag, body }) => [tag, body]));

  test.each(CASES)('of $name, $value, stands for one body, and a 304 has the tag of the 200', async (changed) => {
    const settings = { [changed.name]: changed.value };
    const found = await taggedUnder(settings);
    expect(found.size).toBeGreaterThan(50);
    for (const [request, { tag, body }] of found) {
      if (bodies.has(tag)) expect(body === bodies.get(tag), JSON.stringify(request)).toBe(true);
      bodies.set(tag, body);
    }
    const handler = formHandler(settings);
    for (const [request, { tag }] of before) {
      const headers = { ...request.headers, 'if-none-match': tag };
      const { status, etag } = await answerOf(handler, { ...request, headers });
      if (status === 304) expect(etag, JSON.stringify(request)).toBe(found.get(request)?.tag);
    }
  });

  test('of settings that do not affect bodies is the same on all replicas', async () => {
    for (const name of [
      'cors',
      'cacheControl',
      'serverTiming',
      'answerCacheMb',
      'trustedProxies',
      'browseOnApi',
    ] as const) {
      expect(await taggedUnder({ [name]: OTHERS[name][0] }), name).toEqual(before);
    }
  });
});
