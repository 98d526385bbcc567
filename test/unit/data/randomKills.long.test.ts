// An import, a refresh that merges, a publisher, a server that fetches and one that swaps, each killed with SIGKILL at
// random instants. The old or the new generation stays readable, and the next run finishes with the bytes of an
// undisturbed run. upstream/kills.long.test.ts does this to crawls.
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { generate } from '../../../data/synth/generate.ts';
import { digestSnapshot } from '../../../data/upstream/digests.ts';
import { clientOf } from '../../support/client.ts';
import { type CommandProcess, runCommand, runServer } from '../../support/commandProcess.ts';
import { followOnce, loggedIn } from '../../support/crawls.ts';
import { imported, temporaryDirectory } from '../../support/dataSets.ts';
import {
  type FollowerStatus,
  published,
  type Release,
  startFollower,
  wholePointer,
} from '../../support/distributions.ts';
import { abandonAll } from '../../support/killer.ts';
import { startPlainUpstream } from '../../support/plainUpstream.ts';
import { type Random, randomOf, RUN_SEED } from '../../support/random.ts';
import { until } from '../../support/waits.ts';

/** Running work: `done` resolves when it has succeeded, and rejects if it ends otherwise. */
interface Running {
  readonly command: Pick<CommandProcess, 'signal' | 'ended' | 'kill'>;
  readonly done: () => Promise<unknown>;
}

/**
 * Work to kill. Each run gets a copy of the folder `old`; `run` starts the work in it. `judge` checks the rest of the
 * folder once after each kill. `contents` returns sums by file, only of files that every run must make equally.
 * `always` is a file that exists at any time.
 */
interface KilledWork {
  readonly old: string;
  readonly always: string;
  contents(folder: string): Contents | Promise<Contents>;
  run(folder: string): Promise<Running>;
  judge?(folder: string): void | Promise<void>;
}

/** Sums of files by their names. */
type Contents = Readonly<Record<string, string>>;

/** Names that a killed run may leave, and that no reader takes for a file. */
const UNFINISHED = /\.partial/;

/** A command that succeeds with exit code 0. */
function runningCommand(command: CommandProcess): Running {
  const done = async (): Promise<void> => {
    expect(await command.ended, command.err()).toEqual({ code: 0, signal: null });
  };
  return { command, done };
}

/** Kills the work this many times. Returns the duration of undisturbed work in milliseconds. */
async function killAtInstants(work: KilledWork, kills: number, random: Random): Promise<number> {
  const [old, whole] = [await work.contents(work.old), copyOf(work.old)];
  const begun = await work.run(whole);
  const startMs = performance.now();
  await begun.done();
  const spanMs = performance.now() - startMs;
  await begun.command.kill();
  const next = await work.contents(whole);
  expect(next).not.toEqual(old);
  for (let i = 0; i < kills; i++) {
    const folder = copyOf(work.old);
    const { command, done } = await work.run(folder);
    done().catch(() => undefined);
    const ms = Math.round(random.unit() * spanMs);
    await Promise.race([setTimeout(ms), command.ended]);
    command.signal('SIGKILL');
    await command.ended;
    abandonAll(folder);
    const when = `killed after ${ms} of ${Math.round(spanMs)} ms`;
    const left = await work.contents(folder);
    expect(left, when).toHaveProperty([work.always]);
    for (const [name, sum] of Object.entries(left)) expect([old[name], next[name]], `${when}: ${name}`).toContain(sum);
    await work.judge?.(folder);
    const again = await work.run(folder);
    await again.done();
    await again.command.kill();
    expect(await work.contents(folder), when).toEqual(next);
    expect(unfinishedIn(folder), when).toEqual([]);
  }
  return spanMs;
}

function copyOf(old: string): string {
  const folder = join(mkdtempSync(`${old}-`), 'folder');
  cpSync(old, folder, { recursive: true });
  return folder;
}

function filesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
}

function unfinishedIn(folder: string): readonly string[] {
  return filesIn(folder).filter((name) => UNFINISHED.test(name));
}

/**
 * The sums of the finished files in a folder, each under the name that `as` returns; without a name the file is
 * skipped.
 */
function sumsIn(folder: string, as: (name: string) => string | undefined = (name) => name): Contents {
  return Object.fromEntries(
    filesIn(folder).flatMap((file) => {
      const name = UNFINISHED.test(file) ? undefined : as(file);
      return name === undefined ? [] : [[name, sumOf(readFileSync(join(folder, file)))]];
    }),
  );
}

function sumOf(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const KILLS = 20;
const BASE_URL = 'http://a.example.org';
const directory = temporaryDirectory();
const random = randomOf(RUN_SEED);
const [before, after] = [join(directory, 'before'), join(directory, 'after')];
let old: Release;
let next: Release;

beforeAll(async () => {
  await generate({ observations: 400, seed: 1, directory: before }, () => undefined);
  await generate({ observations: 450, seed: 2, directory: after }, () => undefined);
  [old, next] = [await releaseOf(before), await releaseOf(after)];
});

/** A snapshot with its compressed records, in a separate folder. */
async function releaseOf(data: string): Promise<Release> {
  const file = join(mkdtempSync(`${data}-release-`), 'x.snapshot');
  const command = runCommand(importWords(data, file));
  expect(await command.ended).toEqual({ code: 0, signal: null });
  const [, generation] = /generation ([0-9a-f]{64})/.exec(command.out())!;
  return { file, generation: generation! };
}

function importWords(data: string, file: string): readonly string[] {
  return ['import', data, '-o', file, '--threads', '1', '--base-url', BASE_URL];
}

async function killed(name: string, work: KilledWork): Promise<void> {
  const spanMs = await killAtInstants(work, KILLS, random);
  process.stderr.write(`${name}: killed ${KILLS} times within ${Math.round(spanMs)} ms (seed ${RUN_SEED})\n`);
}

test('keeps an old or a new generation if an import over an older snapshot is killed', () =>
  killed('import', {
    old: dirname(old.file),
    always: 'x.snapshot',
    contents: sumsIn,
    run: async (folder) => runningCommand(runCommand(importWords(after, join(folder, 'x.snapshot')))),
  }));

test('keeps an old or a new generation if a publisher into a folder is killed', async () => {
  const target = mkdtempSync(join(directory, 'target-'));
  await published(pathToFileURL(target).href, old);
  await killed('publish', {
    old: target,
    always: 'current.json',
    // A claim is the pointer under its number, and may stay until another generation follows.
    contents: (folder) => sumsIn(folder, (name) => (/^current\.\d+\.json$/.test(name) ? undefined : name)),
    run: async (folder) => runningCommand(runCommand(['publish', next.file, '--to', pathToFileURL(folder).href])),
    judge: (folder) => void wholePointer(folder),
  });
});

test('keeps an old or a new generation if a server that fetches is killed', async () => {
  const target = pathToFileURL(mkdtempSync(join(directory, 'target-'))).href;
  await published(target, old);
  const cache = join(directory, 'cache');
  const flags = ['--gzip', 'stored', '--base-url', BASE_URL];
  const first = await startFollower(target, cache, flags);
  await until(async () => (await first.status()).target.generation === old.generation);
  await first.kill();
  await published(target, next);
  const known = [old, next].map(({ generation }) => generation.slice(0, 12));
  await killed('fetch', {
    old: cache,
    always: 'cache.json',
    contents: sumsIn,
    run: async (folder) => {
      const words = ['--from', target, '--cache', folder, '--poll', '1d', '--port', '0', '--admin-port', '0'];
      const command = runCommand(['serve', ...words, '--threads', '1', ...flags]);
      const [, origin] = await command.printed(/admin on (http:\S+)\/status/);
      const isTaken = async (): Promise<boolean> => {
        const status = (await (await fetch(`${origin}/status`)).json()) as FollowerStatus;
        return status.target.generation === next.generation;
      };
      const done = async (): Promise<void> => {
        const [, loaded] = await command.printed(/^loaded \d.* generation ([0-9a-f]{12})$/m);
        expect(known).toContain(loaded);
        await until(isTaken);
      };
      return { command, done };
    },
  });
});

test('keeps an old or a new generation if a server that swaps, and compresses the new records, is killed', async () => {
  const pairs = new Set<string>();
  const expected = [`${old.generation.slice(0, 12)} 400`, `${next.generation.slice(0, 12)} 450`];
  await killed('swap', {
    old: dirname(old.file),
    always: 'x.snapshot',
    contents: sumsIn,
    run: async (at) => {
      const data = join(at, 'x.snapshot');
      const flags = ['--gzip', 'stored', '--base-url', BASE_URL, '--admin-port', '0', '--threads', '1', '--pin-walks'];
      const server = await runServer(['--data', data, ...flags]);
      const [, origin] = await server.printed(/admin on (http:\S+)\/status/);
      const client = clientOf(server.url);
      void (async () => {
        for (;;) {
          const { headers, body } = await client.get('/api/v3/observations/?limit=1');
          pairs.add(`${headers['x-generation']} ${(JSON.parse(body) as { count: number }).count}`);
        }
      })().catch(() => client.close());
      copyFileSync(next.file, `${data}.partial`);
      renameSync(`${data}.partial`, data);
      const swapped = fetch(`${origin}/reload`, { method: 'POST' }).then(async (answer) => answer.json());
      const done = async (): Promise<void> => {
        expect(['swapped', 'unchanged']).toContain(((await swapped) as { status: string }).status);
        await until(() => pairs.has(expected[1]!));
      };
      return { command: server, done };
    },
    judge: () => expect(expected).toEqual(expect.arrayContaining([...pairs])),
  });
  expect([...pairs].toSorted()).toEqual(expected.toSorted());
});

test('keeps an old or a new generation if a refresh that merges changes is killed', async () => {
  const collections = { observations: titled(3000, 'one'), computations: titled(500, 'two') };
  const upstream = await startPlainUpstream({ collections, tags: 'honest' });
  const folder = join(directory, 'replica');
  await runningCommand(followOnce(upstream.url, folder)).done();
  collections.observations = [...collections.observations.slice(2), { ob_id: 9000, title: 'new' }];
  collections.observations[7] = { ob_id: 10, title: 'other' };
  await killed('refresh', {
    old: folder,
    always: 'catalogue.snapshot',
    // Snapshots contain the time of their crawl. So their records are compared, and their bytes with those of an
    // import.
    contents: async (at) => {
      const held = digestSnapshot(join(at, 'catalogue.snapshot'), () => undefined);
      const sums = [...held].map(([name, { ids, digests }]) => [
        name,
        sumOf(new Uint8Array(ids.buffer)),
        sumOf(digests),
      ]);
      return {
        ...sumsIn(join(at, 'catalogue'), (name) => (name.endsWith('.ndjson') ? name : undefined)),
        'catalogue.snapshot': sumOf(JSON.stringify(sums)),
        'changes.log': loggedIn(at, 0).join(),
      };
    },
    run: async (at) => {
      const { command, done } = runningCommand(followOnce(upstream.url, at));
      const isWhole = async (): Promise<void> => {
        await done();
        const { file } = await imported(join(at, 'catalogue'), { file: join(at, '..', 'whole.snapshot') });
        expect(readFileSync(join(at, 'catalogue.snapshot')).equals(readFileSync(file))).toBe(true);
      };
      return { command, done: isWhole };
    },
  });
  await upstream.close();
});

/** Records with declared keys only, which are merged. */
function titled(count: number, text: string): { readonly ob_id: number; readonly title: string }[] {
  return Array.from({ length: count }, (_, i) => ({ ob_id: i + 1, title: `${text} ${i}` }));
}
