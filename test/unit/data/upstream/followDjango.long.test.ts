// `follow` and `serve --follow` of Django REST Framework services that support or hinder comparisons in every way. One
// refresh fetches each changed, deleted or added record, and claims no more than it has compared.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parsePage, withOwnUrls } from '../../../../data/upstream/page.ts';
import { generate } from '../../../../data/synth/generate.ts';
import { COLLECTIONS } from '../../../../engine/schema/catalogue.ts';
import { runCommand, runServer } from '../../../support/commandProcess.ts';
import { differencesFromDataSet } from '../../../support/crawls.ts';
import { temporaryDirectory, ndjsonOf } from '../../../support/dataSets.ts';
import {
  type Django,
  type DjangoChanges,
  type DjangoSwitches,
  hasDjango,
  startDjango,
} from '../../../support/django.ts';
import { IS_WHOLE } from '../../../support/ring.ts';

const directory = temporaryDirectory();
const dataSet = join(directory, 'data');

/** A few links of the generated data set lead to no record. */
const FLAGS = ['--rate', '1000', '--threads', '1', '--links-min', '99'];

/** Concurrent `follow` processes, for two cores. */
const CONCURRENCY = 2;

/** Small, so that some collections have several pages. */
const limitMax = 40;

/** The services that CI tries: each kind of comparison, and services that ignore filters. */
const SHORT: readonly string[] = [
  'dates,no-validators,ignored-nothing',
  'dates,etag,ignored-all',
  'no-dates,lastModified,ignored-nothing',
  'no-dates,no-validators,ignored-filters',
];

/** Every combination of the switches, and a slow service, by the name of the base URL. */
const VARIANTS: ReadonlyMap<string, DjangoSwitches> = new Map<string, DjangoSwitches>(
  [
    ...([undefined, 'filters', 'all'] as const).flatMap((ignores) =>
      ([undefined, 'etag', 'lastModified'] as const).flatMap((validators) =>
        [true, false].map((dates) => {
          const name = `${dates ? 'dates' : 'no-dates'},${validators ?? 'no-validators'},ignored-${ignores ?? 'nothing'}`;
          return [name, { ignores, validators, dates, limitMax }] as const;
        }),
      ),
    ),
    ['slow', { slowMs: 50 }] as const,
  ].filter(([name]) => IS_WHOLE || SHORT.includes(name)),
);

/** The comparison that a refresh makes of every collection, if the service has not changed since the last one. */
function unchangedComparison({ ignores, validators, dates }: DjangoSwitches): Compared {
  if (dates && ignores === undefined) return 'dates';
  return validators ? 'validators' : 'full';
}

/** The services that are compared once more without a change. Those that ignore all filters represent the rest. */
const UNCHANGED = [...VARIANTS].filter(([name, { ignores }]) => name !== 'slow' && ignores !== 'filters');

type Compared = 'dates' | 'validators' | 'full';
type Comparisons = Readonly<Record<string, { readonly compared: Compared; readonly lastFullRead: string }>>;
type Line = Readonly<Record<string, unknown>>;

interface Followed {
  readonly code: number | null;
  readonly log: readonly Line[];
}

async function followOnce(url: string, folder: string): Promise<Followed> {
  const command = runCommand(['follow', url, '-o', folder, '--once', ...FLAGS, '--log-format', 'json']);
  const { code } = await command.ended;
  const lines = `${command.out()}${command.err()}`.split('\n').filter((line) => line.startsWith('{'));
  return { code, log: lines.map((line) => JSON.parse(line) as Line) };
}

function eventIn({ log }: Followed, event: string): Line | undefined {
  return log.find((line) => line['event'] === event);
}

function comparisonsIn(followed: Followed): Comparisons {
  return eventIn(followed, 'refreshed')!['collections'] as Comparisons;
}

function recordsOf(collection: string): readonly Line[] {
  const lines = readFileSync(join(dataSet, `${collection}.ndjson`), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as Line);
}

function lastId(records: readonly Line[], idField: string): number {
  return Math.max(...records.map((record) => Number(record[idField])));
}

/** Adds a record to each collection that no record links to: its deletion changes no other one. */
function addUnlinked(): void {
  for (const { name, idField } of COLLECTIONS) {
    const records = recordsOf(name);
    const unlinked = { ...records[0], [idField]: lastId(records, idField) + 1 };
    writeFileSync(join(dataSet, `${name}.ndjson`), ndjsonOf(unlinked), { flag: 'a' });
  }
}

/** In each collection, a record gets the values of another one, the unlinked one is deleted and a new one is added. */
function changesOfAll(): DjangoChanges {
  const changes = COLLECTIONS.map(({ name, idField }) => {
    const records = recordsOf(name);
    const last = lastId(records, idField);
    const [first, second] = records;
    const changed = { ...second, [idField]: first![idField] };
    expect(changed, name).not.toEqual(first);
    return { name, saved: [changed, { ...second, [idField]: last + 1 }], deleted: [last] };
  });
  return {
    // Old enough for Last-Modified to be a validator.
    at: '2024-06-01T12:00:00',
    saved: Object.fromEntries(changes.map(({ name, saved }) => [name, saved])),
    deleted: Object.fromEntries(changes.map(({ name, deleted }) => [name, deleted])),
  };
}

/** All records of the service as files of a data set. */
async function filesOf(url: string): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {};
  for (const { name, idField } of COLLECTIONS) {
    const response = await fetch(`${url}/api/v3/${name}/?limit=100000`);
    const { records } = parsePage(Buffer.from(await response.arrayBuffer()), idField);
    const lines = records.map(({ text }) => `${withOwnUrls(text, new Set([url]), () => undefined)}\n`);
    files[`${name}.ndjson`] = lines.join('');
  }
  return files;
}

/** The names of all files in a folder with the times of their last changes. */
function timesOfFiles(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.toSorted().map((name) => `${name} ${statSync(join(folder, name)).mtimeMs}`);
}

async function forEachVariant(work: (name: string) => Promise<void>): Promise<void> {
  const names = [...VARIANTS.keys()];
  const worker = async (): Promise<void> => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) await work(name);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

describe.skipIf(!hasDjango)('a service on Django REST Framework', () => {
  let service: Django;

  beforeAll(async () => {
    await generate({ observations: 60, seed: 1, directory: dataSet }, () => undefined);
    addUnlinked();
    service = await startDjango(dataSet, join(directory, 'database'));
  });
  afterAll(() => service.stop());

  describe('after a change of every collection', () => {
    const refreshes = new Map<string, Followed>();
    const checks = new Map<string, Followed>();
    const expected = new Map<boolean, Readonly<Record<string, string>>>();

    beforeAll(async () => {
      const follow = async (name: string): Promise<Followed> => {
        const followed = await followOnce(`${service.url}/${name}`, join(directory, name));
        const messages = followed.log.map(({ message }) => message);
        if (followed.code !== 0) throw new Error(`${name}: ${messages.join('\n')}`);
        return followed;
      };
      for (const [name, switches] of VARIANTS) await service.switch(name, switches);
      await forEachVariant(async (name) => void (await follow(name)));
      await service.change(changesOfAll());
      const checked = new Set(UNCHANGED.map(([name]) => name));
      await forEachVariant(async (name) => {
        refreshes.set(name, await follow(name));
        if (checked.has(name)) checks.set(name, await follow(name));
      });
      for (const dates of [true, false])
        expected.set(dates, await filesOf(await service.switch(`dates-${dates}`, { dates })));
    });

    test.each([...VARIANTS])('is in the replica after one refresh with %s', async (name, { dates = false }) => {
      const counts = { created: COLLECTIONS.length, changed: COLLECTIONS.length, deleted: COLLECTIONS.length };
      expect(eventIn(refreshes.get(name)!, 'placed')).toMatchObject(counts);
      expect(await differencesFromDataSet(join(directory, name), expected.get(dates)!)).toEqual([]);
    });

    test.each(UNCHANGED)('is compared as the log reports with %s', (name, switches) => {
      const compared = unchangedComparison(switches);
      const before = comparisonsIn(refreshes.get(name)!);
      const after = comparisonsIn(checks.get(name)!);
      expect(Object.keys(after).toSorted()).toEqual(COLLECTIONS.map((collection) => collection.name).toSorted());
      expect(eventIn(checks.get(name)!, 'refreshed')).toMatchObject({ isNew: false });
      expect(eventIn(checks.get(name)!, 'built')).toBeUndefined();
      for (const [collection, { lastFullRead, ...how }] of Object.entries(after)) {
        expect(how, collection).toEqual({ compared });
        const earlier = before[collection]!.lastFullRead;
        if (compared === 'full') expect(lastFullRead >= earlier, collection).toBe(true);
        else expect(lastFullRead, collection).toBe(earlier);
      }
    });
  });

  test.concurrent.each([
    ['page', 'HTML'],
    ['redirect', '/accounts/login/'],
  ] as const)('leaves the replica unchanged while it responds with a log-in %s', async (login, reason) => {
    const folder = join(directory, `login-${login}`);
    const url = await service.switch(`login-${login}`, {});
    expect((await followOnce(url, folder)).code).toBe(0);
    const before = timesOfFiles(folder);
    await service.switch(`login-${login}`, { login });
    const refused = runCommand(['follow', url, '-o', folder, '--once', ...FLAGS]);
    expect(await refused.ended).toEqual({ code: 1, signal: null });
    expect(refused.err()).toContain(reason);
    expect(timesOfFiles(folder)).toEqual(before);
    await service.switch(`login-${login}`, {});
    expect((await followOnce(url, folder)).code).toBe(0);
  });

  test('is compared as /status and /metrics report', async () => {
    const url = await service.switch('served', {});
    const state = ['--state', join(directory, 'served')];
    const server = await runServer(['--follow', url, ...state, '--every', '1h', '--admin-port', '0', ...FLAGS]);
    try {
      const [, admin] = await server.printed(/admin on (http:\S+)\/status/);
      const metrics = async (name: string): Promise<Readonly<Record<string, number>>> => {
        const lines = await (await fetch(`${admin}/metrics`)).text();
        const found = lines.matchAll(new RegExp(`^catalogue_replica_${name}(?:{\\w+="(\\w+)"})? (\\S+)$`, 'gm'));
        return Object.fromEntries([...found].map(([, label = '', value]) => [label, Number(value)]));
      };
      const refresh = async (): Promise<number> => (await fetch(`${admin}/refresh`, { method: 'POST' })).status;
      const none = { dates: 0, validators: 0, full: 0 };
      const all = COLLECTIONS.length;
      expect(await metrics('refresh_collections')).toEqual({ ...none, full: all });
      const [started] = Object.values(await metrics('refresh_last_full_read_timestamp_seconds'));

      // The refresh after the one that found a validator uses it. The same holds for dates.
      const steps = [
        [{ validators: 'etag' }, 'full', 'validators'],
        [{ dates: true }, 'full', 'dates'],
      ] as const;
      for (const [switches, first, second] of steps) {
        await service.switch('served', switches);
        for (const compared of [first, second]) {
          expect(await refresh()).toBe(200);
          expect(await metrics('refresh_collections')).toEqual({ ...none, [compared]: all });
        }
      }
      const status = (await (await fetch(`${admin}/status`)).json()) as { refresh: { collections: Comparisons } };
      const fullReads = Object.entries(status.refresh.collections).map(([name, { compared, lastFullRead }]) => {
        expect(compared, name).toBe('dates');
        return [name, Date.parse(lastFullRead) / 1000] as const;
      });
      expect(fullReads).toHaveLength(all);
      expect(Math.min(...fullReads.map(([, seconds]) => seconds))).toBeGreaterThanOrEqual(started!);
      expect(await metrics('refresh_last_full_read_timestamp_seconds')).toEqual(Object.fromEntries(fullReads));

      const age = await metrics('refresh_age_seconds');
      await service.switch('served', { dates: true, login: 'redirect' });
      expect(await refresh()).toBe(422);
      expect(await metrics('refresh_collections')).toEqual({ ...none, dates: all });
      expect((await metrics('refresh_age_seconds'))['']).toBeGreaterThan(age['']!);
    } finally {
      await server.kill();
    }
  });
});
