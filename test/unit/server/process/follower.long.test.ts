// A server that follows another catalogue: it fetches missing data, loads changes at its interval or on request, and
// keeps serving after any failure.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { familyOf } from '../../../../bench/processes/ending.ts';
import { DATA_STEPS } from '../../../../server/observe/events.ts';
import { type CommandProcess, runCommand } from '../../../support/commandProcess.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { hasProgram } from '../../../support/debian.ts';
import { type PlainRecord, type PlainUpstream, startPlainUpstream } from '../../../support/plainUpstream.ts';
import { until } from '../../../support/waits.ts';
import { someOf } from '../../../support/ring.ts';

const directory = temporaryDirectory();
const running: CommandProcess[] = [];
const upstreams: PlainUpstream[] = [];
afterEach(async () => {
  for (const command of running.splice(0)) await command.kill();
  for (const upstream of upstreams.splice(0)) await upstream.close();
});

function notesOf(count: number): readonly PlainRecord[] {
  return Array.from({ length: count }, (_, i) => ({ ob_id: i + 1 }));
}

/** Flags of a server that follows a URL without a pause between two requests. */
function followed(url: string, state: string): readonly string[] {
  return ['--follow', url, '--state', state, '--threads', '1', '--rate', '1000'];
}

async function following(every: string, more: readonly string[] = [], node: readonly string[] = []) {
  const collections = { notes: notesOf(3) };
  let isBroken = false;
  const upstream = await startPlainUpstream({
    collections,
    onRequest: ({ socket }) => void (isBroken && socket.destroy()),
  });
  upstreams.push(upstream);
  const state = join(mkdtempSync(join(directory, 'state-')), 'state');
  const words = [...followed(upstream.url, state), '--every', every, ...more];
  const command = runCommand(['serve', '--port', '0', '--admin-port', '0', ...words], { node });
  running.push(command);
  const [, admin] = await command.printed(/admin on (http:\S+)\/status/);
  const [, url] = await command.printed(/listening on (http:\S+)\n/);
  const counted = async (): Promise<number> => {
    const answer = await fetch(`${url}/api/v3/notes/?limit=1`);
    return ((await answer.json()) as { count: number }).count;
  };
  const breakUpstream = (): void => void (isBroken = true);
  return { upstream, collections, command, admin: admin!, url: url!, counted, state, breakUpstream };
}

async function ordered(
  admin: string,
  order = 'refresh',
): Promise<{ status: number; body: Readonly<Record<string, unknown>> }> {
  const answer = await fetch(`${admin}/${order}`, { method: 'POST' });
  return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
}

interface RefreshStatus {
  readonly from: string;
  readonly everySeconds: number;
  readonly lastSuccess: string | null;
  readonly ageSeconds: number | null;
  readonly collections: Readonly<Record<string, { readonly compared: string; readonly lastFullRead: string }>>;
  readonly lastFailure: { readonly at: string; readonly reason: string } | null;
}

async function statusOf(admin: string): Promise<RefreshStatus> {
  return ((await (await fetch(`${admin}/status`)).json()) as { refresh: RefreshStatus }).refresh;
}

test('fetches missing data, and loads changes on request; a failure changes nothing', async () => {
  const { upstream, collections, command, admin, counted, breakUpstream } = await following('1h');
  expect(command.out()).toMatch(/there is no data in .* it is fetched first\n(?:.*\n)*crawled 3 records/);
  expect(await counted()).toBe(3);
  collections.notes = notesOf(5);
  expect(await ordered(admin)).toMatchObject({ status: 200, body: { status: 'swapped' } });
  expect(await counted()).toBe(5);
  expect(command.out()).toMatch(/is in place: 2 created, 0 changed, 0 deleted/);
  expect(await ordered(admin)).toMatchObject({ status: 200, body: { status: 'unchanged' } });
  breakUpstream();
  const refused = await ordered(admin);
  const reason = expect.stringMatching(/^the root view \(http.*tried 6 times$/);
  expect(refused).toMatchObject({ status: 422, body: { status: 'refused', reason } });
  expect(await counted()).toBe(5);
  const status = await statusOf(admin);
  expect(status).toMatchObject({ from: upstream.url, everySeconds: 3600, lastFailure: { reason } });
  expect(status.ageSeconds).toBeGreaterThan(0);
  const metrics = await (await fetch(`${admin}/metrics`)).text();
  expect(metrics).toMatch(/catalogue_replica_refreshes_total\{status="swapped"\} 1\n/);
  expect(metrics).toMatch(/catalogue_replica_refreshes_total\{status="refused"\} 1\n/);
  expect(metrics).toMatch(/catalogue_replica_refresh_age_seconds [\d.]+\n/);
  expect(status.collections).toEqual({ notes: { compared: 'full', lastFullRead: expect.any(String) as string } });
  expect(metrics).toContain('catalogue_replica_refresh_collections{compared="dates"} 0\n');
  expect(metrics).toContain('catalogue_replica_refresh_collections{compared="validators"} 0\n');
  expect(metrics).toContain('catalogue_replica_refresh_collections{compared="full"} 1\n');
  const readSeconds = Date.parse(status.collections['notes']!.lastFullRead) / 1000;
  const lastRead = 'catalogue_replica_refresh_last_full_read_timestamp_seconds{collection="notes"}';
  expect(metrics).toContain(`${lastRead} ${readSeconds}\n`);
});

test('logs each step as a line of JSON with event and figures', async () => {
  const collections = { notes: notesOf(3) };
  const upstream = await startPlainUpstream({ collections });
  upstreams.push(upstream);
  const state = join(mkdtempSync(join(directory, 'state-')), 'state');
  const words = [...followed(upstream.url, state), '--every', '1s', '--log-format', 'json'];
  const command = runCommand(['serve', '--port', '0', ...words]);
  running.push(command);
  await command.printed(/listening on/);
  collections.notes = notesOf(4);
  await command.printed(/"event":"freed"/);
  const lines = command.out().trim().split('\n');
  const steps = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  for (const step of steps)
    expect(step).toMatchObject({ time: expect.any(String), level: 'info', message: expect.any(String) });
  const placed = steps.findIndex(({ event, created }) => event === 'placed' && created === 1);
  const { generation } = steps[placed]!;
  expect(generation).toMatch(/^[0-9a-f]{64}$/);
  expect(steps[placed]).toMatchObject({ changed: 0, deleted: 0, seconds: expect.any(Number) as unknown });
  const seconds = expect.any(Number) as unknown;
  expect(steps.slice(0, placed)).toContainEqual(
    expect.objectContaining({ event: 'crawled', records: 4, bytes: 48, seconds }),
  );
  expect(steps.slice(0, placed)).toContainEqual(expect.objectContaining({ event: 'built', generation, seconds }));
  const bytes = expect.any(Number) as unknown;
  const timed = { bytes, seconds };
  for (const event of ['verified', 'compressed', 'swapped'])
    expect(steps.slice(placed)).toContainEqual(expect.objectContaining({ event, generation, ...timed }));
  expect(steps).toContainEqual(expect.objectContaining({ event: 'freed', ...timed }));
  const names = steps.flatMap(({ event }) => (typeof event === 'string' ? [event] : []));
  const guide = readFileSync(new URL('../../../../server/observe/README.md', import.meta.url), 'utf8');
  for (const name of DATA_STEPS) expect(guide).toContain(`\`${name}\``);
  expect(names.filter((name) => !DATA_STEPS.some((one) => one === name))).toEqual([]);
});

test('loads changes at its interval, and exits with its child processes', async () => {
  const { collections, command, counted, state } = await following('1s');
  collections.notes = notesOf(4);
  await command.printed(/is in place: 1 created/);
  await command.printed(/is served now/);
  expect(await counted()).toBe(4);
  const child = childOf(command);
  command.signal('SIGTERM');
  expect(await command.ended).toEqual({ code: 0, signal: null });
  expect(() => process.kill(child, 0)).toThrow('ESRCH');
  // The folder is released: other processes can use it.
  const other = runCommand(['changes', state]);
  expect(await other.ended).toEqual({ code: 0, signal: null });
});

test('sends requests as its settings demand, and accepts what they allow', async () => {
  const { upstream, collections, command, admin, counted } = await following(
    '1h',
    '--contact me@example.org --rate 1000 --concurrency 1 --timeout 20 --shrink-max 40 --links-min 0'.split(' '),
  );
  for (const { headers } of upstream.requests) expect(headers['user-agent']).toContain('(+me@example.org)');
  expect(command.out()).toContain('a crawl began, of everything');
  collections.notes = notesOf(2);
  expect(await ordered(admin)).toMatchObject({ status: 200, body: { status: 'swapped' } });
  expect(await counted()).toBe(2);
  collections.notes = notesOf(1);
  const reason = expect.stringContaining('notes has 1 records, 2 before; more than 40 % are gone') as string;
  expect(await ordered(admin)).toMatchObject({ status: 422, body: { status: 'refused', reason } });
});

test('is not ready once its catalogue is away for longer than --max-stale, and keeps serving', async () => {
  const { command, admin, counted, url, breakUpstream } = await following('1s', [
    '--max-stale',
    '10s',
    '--timeout',
    '1',
  ]);
  await command.printed(/is unchanged; every record has the same bytes: 1 collections/);
  const readyz = async (): Promise<unknown> => (await fetch(`${admin}/readyz`)).json();
  await expect.poll(readyz, { timeout: 60_000 }).toEqual({ status: 'ready' });
  breakUpstream();
  const reason = expect.stringMatching(
    /^the data is stale: for \d+ s it was not refreshed from http.*tried 6/,
  ) as string;
  await expect.poll(readyz, { timeout: 60_000 }).toEqual({ status: 'stale', reason });
  expect((await fetch(`${admin}/readyz`)).status).toBe(503);
  const healthz = async (): Promise<unknown> => {
    const answer = await fetch(`${url}/healthz`);
    return [answer.status, await answer.json()];
  };
  await expect.poll(healthz, { timeout: 20_000 }).toEqual([503, { status: 'stale' }]);
  expect(await counted()).toBe(3);
});

test('refreshes whatever the environment and file of the server set, and lets flags win', async () => {
  const upstream = await startPlainUpstream({ collections: { notes: notesOf(3) } });
  upstreams.push(upstream);
  const folder = mkdtempSync(join(directory, 'environment-'));
  const config = join(folder, 'config.toml');
  writeFileSync(config, 'maxStale = "1h"\ncontact = "us@example.org"\nlinksMin = 50\n');
  const environment = {
    CATALOGUE_CONFIG: config,
    CATALOGUE_MAX_STALE: '2h',
    CATALOGUE_STATE: join(folder, 'state'),
    CATALOGUE_EVERY: '1h',
    CATALOGUE_ADMIN_PORT: '0',
    CATALOGUE_HTTP10_PORT: '0',
    CATALOGUE_LENIENT: 'true',
    CATALOGUE_RATE: '1000',
  };
  const words = ['serve', '--follow', upstream.url, '--port', '0', '--threads', '1', '--contact', 'me@example.org'];
  const command = runCommand(words, { environment });
  running.push(command);
  await command.printed(/listening on/);
  for (const { headers } of upstream.requests) expect(headers['user-agent']).toContain('(+me@example.org)');
});

/** The process that follows on behalf of a server. */
function childOf({ pid }: CommandProcess): number {
  const commandOf = (one: number): string => readFileSync(`/proc/${one}/cmdline`, 'utf8');
  return familyOf(pid).find((one) => one !== pid && commandOf(one).includes('\0follow\0'))!;
}

test.skipIf(!hasProgram('prlimit'))(
  'keeps serving if no process can be started for lack of descriptors, and refreshes once there are some',
  async () => {
    const { command, admin } = await following('1s');
    const limit = (most: string): void => void execFileSync('prlimit', [`--pid=${command.pid}`, `--nofile=${most}:`]);
    limit('3');
    process.kill(childOf(command), 'SIGKILL');
    await command.printed(/the refresh failed, generation \w+ goes on: no process can be started: spawn \S+ EMFILE/);
    limit('256');
    await expect.poll(async () => (await statusOf(admin)).lastFailure?.reason, { timeout: 20_000 }).toMatch(/EMFILE/);
    expect(await ordered(admin)).toMatchObject({ status: 200, body: { status: 'unchanged' } });
  },
);

test('keeps serving if the system has no memory for a new process', async () => {
  const defect = new URL('../../../support/defects/noMemory.ts', import.meta.url).href;
  const { command, admin } = await following('1s', [], ['--import', defect]);
  process.kill(childOf(command), 'SIGKILL');
  await command.printed(/the refresh failed, generation \w+ goes on: no process can be started: spawn ENOMEM/);
  expect((await statusOf(admin)).lastFailure?.reason).toMatch(/ENOMEM/);
});

test('fails a refresh whose process exits, starts another process, and the age of the data keeps growing', async () => {
  let isHolding = false;
  const upstream = await startPlainUpstream({
    collections: { notes: notesOf(3) },
    onRequest: async ({ socket }) => void (isHolding && (await once(socket, 'close'))),
  });
  upstreams.push(upstream);
  const state = join(mkdtempSync(join(directory, 'state-')), 'state');
  const command = runCommand(['serve', '--port', '0', '--admin-port', '0', ...followed(upstream.url, state)]);
  running.push(command);
  const [, admin] = await command.printed(/admin on (http:\S+)\/status/);
  await command.printed(/listening on/);
  const { lastSuccess } = await statusOf(admin!);
  for (const [signal, reason] of [
    ['SIGTERM', 'its process ended with 0'],
    ['SIGKILL', 'its process ended with SIGKILL'],
  ] as const) {
    isHolding = true;
    const asked = upstream.requests.length;
    const refused = ordered(admin!);
    await expect.poll(() => upstream.requests.length, { timeout: 20_000 }).toBeGreaterThan(asked);
    process.kill(childOf(command), signal);
    expect(await refused).toMatchObject({ status: 422, body: { status: 'refused', reason } });
    expect(await statusOf(admin!)).toMatchObject({ lastSuccess, lastFailure: { reason } });
    isHolding = false;
  }
  // Immediately, without the pause before the next start.
  expect(await ordered(admin!)).toMatchObject({ status: 200, body: { status: 'unchanged' } });
  expect(existsSync(join(state, 'lock'))).toBe(false);
});

test('exits with 2 if the folder has data of another catalogue, and nothing to serve', async () => {
  const { command, state } = await following('1h');
  await command.kill();
  rmSync(join(state, 'served'), { recursive: true });
  const other = runCommand(['serve', '--port', '0', ...followed('http://127.0.0.1:1', state)]);
  running.push(other);
  expect(await other.ended).toEqual({ code: 2, signal: null });
  expect(other.err()).toMatch(/follows http.*, not http:\/\/127\.0\.0\.1:1/);
});

test('keeps two snapshots on the disk, whatever the number of refreshes, and over a restart', async () => {
  const { collections, command, admin, state, upstream } = await following('1h');
  const snapshots = (): number => {
    const names = readdirSync(state, { recursive: true, encoding: 'utf8' });
    const files = names.filter((name) => name.endsWith('.snapshot')).map((name) => join(state, name));
    return new Set(files.map((file) => statSync(file, { throwIfNoEntry: false })?.ino)).size;
  };
  expect(snapshots()).toBe(1);
  for (const count of someOf([4, 5, 6], 2)) {
    collections.notes = notesOf(count);
    expect(await ordered(admin)).toMatchObject({ body: { status: 'swapped' } });
    expect(snapshots()).toBe(2);
  }
  await command.kill();
  collections.notes = notesOf(7);
  const again = runCommand(['serve', '--port', '0', '--admin-port', '0', ...followed(upstream.url, state)]);
  running.push(again);
  await again.printed(/is served now/);
  await until(() => snapshots() === 2);
});

test('refuses data together with a catalogue to follow', async () => {
  const command = runCommand(['serve', '--follow', 'http://a.example.org', '--data', 'x']);
  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.err()).toContain('flag --data: not beside follow');
});

test('builds a snapshot again if it is damaged where no check before loading reads it', async () => {
  const { command, state, upstream } = await following('1h');
  await command.kill();
  const file = join(state, 'catalogue.snapshot');
  const bytes = readFileSync(file);
  bytes[200]! ^= 1;
  writeFileSync(file, bytes);
  const words = [...followed(upstream.url, state), '--every', '1h'];
  const again = runCommand(['serve', '--port', '0', ...words]);
  running.push(again);
  await again.printed(/it is built again: .*section/);
  const [, url] = await again.printed(/listening on (http:\S+)\n/);
  expect(await (await fetch(`${url}/api/v3/notes/?limit=1`)).json()).toMatchObject({ count: 3 });
  bytes[200]! ^= 1;
  expect(readFileSync(file).equals(bytes)).toBe(true);
});

test('waits for a catalogue that does not exist yet, reports it, and follows another one if the first was misspelt', async () => {
  const upstream = await startPlainUpstream({ collections: { notes: notesOf(3) } });
  upstreams.push(upstream);
  const state = join(mkdtempSync(join(directory, 'state-')), 'state');
  const started = (url: string): CommandProcess => {
    const command = runCommand(['serve', '--port', '0', '--admin-port', '0', ...followed(url, state)]);
    running.push(command);
    return command;
  };
  const misspelt = started('http://127.0.0.1:1');
  const [, admin] = await misspelt.printed(/admin on (http:\S+)\/status/);
  await misspelt.printed(/nothing to serve yet, http:\/\/127.0.0.1:1 is asked again in 10 s: the root view/);
  const reason = expect.stringMatching(/^waiting for the first data of http:\/\/127.0.0.1:1: the root view/) as string;
  expect(await (await fetch(`${admin}/readyz`)).json()).toEqual({ status: 'loading', reason });
  expect(await (await fetch(`${admin}/metrics`)).text()).not.toMatch(/^catalogue_replica_refresh_age_seconds /m);
  await misspelt.kill();
  const right = started(upstream.url);
  await right.printed(/listening on/);
});

test.each(someOf(['', '--take-nulls'], 1))('handles nulls in place of documented values: with `%s`', async (flag) => {
  const { collections, admin, url } = await following('1h', flag === '' ? [] : [flag]);
  const nulls = [
    { ob_id: 1, title: null },
    { ob_id: 2, title: 'x', procedureAcquisition: null },
  ];
  (collections as Record<string, readonly PlainRecord[]>)['observations'] = nulls;
  const { status } = await ordered(admin);
  if (flag === '') {
    expect(status).toBe(422);
    const reason = expect.stringMatching(/title: expected text, got null; 1 faulty line; .*--take-nulls takes/);
    expect((await statusOf(admin)).lastFailure).toMatchObject({ reason });
    return;
  }
  expect(status).toBe(200);
  const list = (await (await fetch(`${url}/api/v3/observations/?title__isnull=true`)).json()) as object;
  expect(list).toMatchObject({ count: 1, results: nulls.slice(0, 1) });
});

test.each(someOf(['', '--lenient'], 1))('handles invalid records: with `%s`', async (flag) => {
  const { collections, command, admin, url } = await following('1h', flag === '' ? [] : [flag]);
  const faulty = (count: number): readonly PlainRecord[] =>
    Array.from({ length: count }, (_, i) => ({ ob_id: i + 1, title: i === 0 ? 17 : `title ${i}` }));
  const all: Record<string, readonly PlainRecord[]> = collections;
  const titles = async (): Promise<unknown> =>
    ((await (await fetch(`${url}/api/v3/observations/`)).json()) as { count: number }).count;
  all['observations'] = faulty(3);
  const { status } = await ordered(admin);
  if (flag === '') {
    expect(status).toBe(422);
    const reason = expect.stringMatching(
      /observations.ndjson:1: \/title: expected text, got a number; 1 faulty line; /,
    );
    expect((await statusOf(admin)).lastFailure).toMatchObject({ reason });
    return;
  }
  expect(status).toBe(200);
  expect(await titles()).toBe(2);
  expect(command.out()).toMatch(
    /left out: .*observations.ndjson:1: \/title: expected text, got a number\nbuilt .* 1 left out/,
  );
  all['observations'] = faulty(5);
  expect(await ordered(admin)).toMatchObject({ body: { status: 'swapped' } });
  expect(await titles()).toBe(4);
  collections.notes = notesOf(7);
  expect(await ordered(admin)).toMatchObject({ body: { status: 'swapped' } });
  expect(await titles()).toBe(4);
});
