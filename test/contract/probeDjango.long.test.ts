// `probe` of a catalogue on Debian's Django REST Framework and of a replica, and the summary of `serve --follow`.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProbeReport } from '../../data/upstream/probe.ts';
import { endedCommands } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { type Django, type DjangoSwitches, hasDjango, startDjango } from '../support/django.ts';
import { ROOT } from '../support/sources.ts';

const folder = temporaryDirectory();
const SAMPLE = join(ROOT, 'data/sample');
/** Percent of the links of the sample that lead to a record. */
const RESOLVED = 99.94;
const RATE = ['--rate', '1000'];

const commands = endedCommands();

/** The report of a probe, which must end well. */
async function reportOf(url: string): Promise<ProbeReport & { readonly command: string }> {
  const command = commands.start(['probe', url, ...RATE, '--format', 'json']);
  expect(await command.ended).toMatchObject({ code: 0 });
  return JSON.parse(command.out()) as ProbeReport & { command: string };
}

/** For each check, the number of collections or filters that pass it, and the number of those that do not. */
function verdicts({ ordering, filters, validators, dates }: ProbeReport) {
  const counts = Object.entries({ ordering, filters, validators, dates }).map(
    ([name, { honoured, ignored, unchecked }]) => {
      expect(unchecked).toEqual([]);
      return [name, [honoured.length, ignored.length]];
    },
  );
  return Object.fromEntries(counts) as Record<string, readonly number[]>;
}

describe.skipIf(!hasDjango)('a probe of Django REST Framework', () => {
  let service: Django;
  beforeAll(async () => void (service = await startDjango(SAMPLE, join(folder, 'database'))));
  afterAll(() => service.stop());

  test.each<[string, DjangoSwitches, object]>([
    ['stock', {}, { ordering: [34, 0], filters: [12, 0], validators: [0, 34], dates: [0, 34] }],
    [
      'tagged',
      { ignores: 'filters', validators: 'etag' },
      { ordering: [34, 0], filters: [0, 12], validators: [34, 0] },
    ],
    ['plain', { ignores: 'all', validators: 'lastModified' }, { ordering: [0, 34], validators: [34, 0] }],
    ['dated', { dates: true }, { dates: [34, 0] }],
  ])('tells what the service %s honours', async (name, switches, expected) => {
    expect(verdicts(await reportOf(await service.switch(name, switches)))).toMatchObject(expected);
  });

  test('gives a share of links whose margin has that of all links, and a page size that the service allows', async () => {
    const report = await reportOf(await service.switch('short', { limitMax: 150 }));
    const { links, page, crawl, command, missing, unknown } = report;
    expect([missing, unknown, page.records]).toEqual([[], [], 150]);
    expect(links.checked).toBe(500);
    expect(links.share - links.margin).toBeLessThan(RESOLVED);
    // The crawl that the command leads to is accepted, and takes about as many requests.
    const [words] = / --rate .*$/.exec(command)!;
    const follow = commands.start(['crawl', report.url, '-o', join(folder, 'crawl'), ...words.trim().split(' ')]);
    expect(await follow.ended).toMatchObject({ code: 0 });
    expect(crawl.requests).toBeGreaterThan(34 * 2);
  });

  test('is in the log of serve --follow at its first start only', async () => {
    const words = ['--follow', service.url, '--state', join(folder, 'state'), ...RATE];
    const first = await commands.startServer(...words);
    expect(first.out()).toMatch(/^collections +34 of 34, 4,799 records\n(?:.*\n)+catalogue-replica serve --follow /m);
    await first.stop();
    const second = await commands.startServer(...words);
    await second.printed(/a refresh began/);
    expect(second.out()).not.toContain('collections  ');
  });
});

test('of a replica passes every check but the one by dates', async () => {
  const replica = await commands.startServer('--data', SAMPLE);
  const report = await reportOf(replica.url);
  expect(verdicts(report)).toEqual({ ordering: [34, 0], filters: [12, 0], validators: [34, 0], dates: [0, 34] });
  expect(report.command).toBe(`catalogue-replica serve --follow ${replica.url} --rate 1000`);
});
