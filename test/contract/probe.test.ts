// `probe` of small catalogues that have, honour and lack what their options say.
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { probe, type ProbeReport } from '../../data/upstream/probe.ts';
import { commandLine } from '../../server/commands/commands.ts';
import { QUICK_CRAWL, recordsFrom } from '../support/crawls.ts';
import { plainUpstreams } from '../support/plainUpstream.ts';

const upstreamOf = plainUpstreams();

/** The standard output of the command. */
async function printed(url: string, ...flags: readonly string[]): Promise<string> {
  let output = '';
  const outputs = { stdout: { write: (text: string) => void (output += text) }, stderr: { write: () => undefined } };
  const words = ['probe', url, '--rate', '1000', ...flags];
  await (await commandLine(outputs, words)).parseAsync(words, { from: 'user' });
  return output;
}

async function report(url: string, ...flags: readonly string[]): Promise<ProbeReport & { readonly command: string }> {
  return JSON.parse(await printed(url, '--format', 'json', ...flags)) as ProbeReport & { command: string };
}

const link = (to: string, id: number): string => `{upstream}/api/v3/${to}/${id}/?format=api`;

test('names collections that are missing or unknown, null fields, invalid fields, and the links of a small catalogue', async () => {
  const { url } = await upstreamOf({
    collections: {
      observations: [
        { ob_id: 1, title: null, timePeriod: link('times', 7) },
        { ob_id: 2, abstract: 5, timePeriod: link('times', 8), other: link('extras', 1) },
        { ob_id: 3, others: [link('projects', 1), 'http://elsewhere.example.org/api/v3/times/7/'] },
      ],
      times: [{ ob_id: 7 }],
      extras: [{ ob_id: 1 }],
    },
  });
  const before = readdirSync('.');
  const found = await report(url);
  expect(found).toMatchObject({
    counts: { observations: 3, times: 1 },
    unknown: ['extras'],
    links: { checked: 4, resolved: 1, share: 25, linksMin: 4.5 },
    nulls: ['observations.title'],
    faults: ['observations.abstract'],
  });
  expect(found.missing).toHaveLength(32);
  expect(found.missing).toContain('projects');
  expect(found.command).toBe(
    `catalogue-replica serve --follow ${url} --lenient --take-nulls --rate 1000 --links-min 4.5`,
  );
  expect(readdirSync('.')).toEqual(before);
  const text = await printed(url);
  expect(text).toMatch(/^collections +2 of 34, 4 records$/m);
  expect(text).toMatch(/^left out +extras$/m);
  expect(text).toMatch(/^links +1 of 4 links resolve: 25\.0 % \(at least 4\.6 %, --links-min 4\.5\)$/m);
  expect(text.trimEnd().split('\n').at(-1)).toBe(found.command);
});

test.each([
  [{ heedsOrder: true }, { ordering: { honoured: ['identifiers', 'notes'], ignored: [] } }],
  [{ heedsOrder: false }, { ordering: { honoured: [], ignored: ['identifiers', 'notes'] } }],
  [{ heedsDates: true }, { dates: { honoured: ['notes'], ignored: ['identifiers'] } }],
  [{ heedsDates: false }, { dates: { honoured: [], ignored: ['identifiers', 'notes'] } }],
  [{ tags: 'honest' }, { validators: { honoured: ['identifiers', 'notes'], ignored: [] } }],
  [{ tags: 'lying' }, { validators: { honoured: [], ignored: ['identifiers', 'notes'] } }],
  [{}, { validators: { honoured: [], ignored: ['identifiers', 'notes'] } }],
  [{}, { filters: { honoured: [], ignored: ['identifiers.identifierType', 'identifiers.url'] } }],
] as const)('an upstream with %j has the verdicts %j', async (options, verdicts) => {
  const dated = recordsFrom(0, 3).map((note) => ({ ...note, lastUpdatedDate: '2026-01-01T00:00:00Z' }));
  const { url } = await upstreamOf({ collections: { notes: dated, identifiers: recordsFrom(0, 2) }, ...options });
  expect(await report(url)).toMatchObject(verdicts);
});

test('requests what links of larger catalogues lead to, and gives the share a margin', async () => {
  const notes = recordsFrom(0, 2000).map((one) => ({ ...one, time: link('times', one.ob_id) }));
  const times = recordsFrom(0, 2000).filter(({ ob_id: id }) => id % 10 !== 0);
  const upstream = await upstreamOf({ collections: { notes, times } });
  const { links, crawl, page, command } = await report(upstream.url);
  expect(links.checked).toBe(500);
  expect(Math.abs(links.share - 90)).toBeLessThan(2);
  expect(links.linksMin).toBeLessThan(90);
  expect(links.linksMin).toBeGreaterThan(85);
  expect(command).toContain(` --links-min ${links.linksMin}`);
  expect(page.records).toBe(1000);
  // The root view, two pages of each collection, and a count of each.
  expect(crawl.requests).toBe(7);
  expect(upstream.requests.length).toBeLessThan(530);
});

test('ends when its time is over, and says what it did not check', async () => {
  const notes = recordsFrom(0, 500).map((one) => ({ ...one, other: link('identifiers', one.ob_id) }));
  const upstream = await upstreamOf({
    collections: { notes, identifiers: recordsFrom(0, 500) },
    onRequest: ({ url }) => (url!.includes('identifiers') ? new Promise(() => undefined) : undefined),
  });
  const options = { ...QUICK_CRAWL, base: upstream.url, durationMs: 2000 };
  const found = await probe(options, () => undefined);
  expect(found).toMatchObject({
    unreadable: { identifiers: expect.stringMatching(/^identifiers, page at offset 0 .*: no response in time$/) },
  });
  expect(found.counts).toEqual({ notes: 500 });
  expect(found.ordering).toEqual({ honoured: [], ignored: [], unchecked: ['notes'] });
  expect(found.links).toMatchObject({ checked: 0, unchecked: 500 });
});

test('reports the status of collections that cannot be read, and refuses what is no catalogue', async () => {
  const { url } = await upstreamOf({
    collections: { notes: recordsFrom(0, 1), times: recordsFrom(0, 1) },
    misbehave: ({ response }, name) => name === 'notes' && Boolean(response.writeHead(403).end()),
  });
  expect((await report(url)).unreadable).toEqual({ notes: expect.stringMatching(/answered 403$/) as string });
  await expect(printed(`${url}/nowhere`)).rejects.toMatchObject({
    code: 'network',
    message: expect.stringMatching(/answered 404; name the base URL/) as string,
  });
});
