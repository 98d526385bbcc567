// The program of the guide for client authors that keeps a copy in step, run by python3 while the data changes: over
// 50 generations in the nightly run, a rollback and a restart of the server, and behind a target.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, test } from 'vitest';
import { CHANGES_FILE } from '../../data/changeFeed.ts';
import { blocksOf } from '../documents/blocks.ts';
import { type Client, clientOf } from '../support/client.ts';
import { type CommandProcess, runCommand } from '../support/commandProcess.ts';
import { QUICK } from '../support/crawls.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { hasLibrary, hasProgram } from '../support/debian.ts';
import { type Follower, newFolder, serveFolder, servesAtLast, startFollower } from '../support/distributions.ts';
import { type PlainRecord, plainUpstreams } from '../support/plainUpstream.ts';
import { randomOf } from '../support/random.ts';
import { times } from '../support/ring.ts';

const GENERATIONS = times(16, 50);
/** Generations in which the mirror is not updated, so that its next update covers several of them. */
const SLEPT = [4, 5, 6];
const ROLLED_BACK = 8;
const RESTARTED = 12;
const TARGET = '/api/v3/changes/';

const directory = temporaryDirectory();
const startPlainUpstream = plainUpstreams();
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

interface Copy {
  readonly generation: string;
  readonly records: Readonly<Record<string, unknown>>;
}

/** The program of the guide, for a collection of a server; `update` makes the next step and returns the copy. */
function mirrorOf(collection: string): (url: string) => Promise<Copy> {
  const [program] = blocksOf('server/catalogue/README.md').filter(({ heading }) => heading === 'Changes');
  const steps = `
import sys
NAME, state = "${collection}", None
for line in sys.stdin:
    API = line.strip() + "/api/v3/"
    state = updated(*state) if state else copied()
    print(json.dumps({"generation": state[0], "records": state[1]}), flush=True)
`;
  const python = spawn('python3', ['-c', program!.text + steps], { stdio: ['pipe', 'pipe', 'inherit'] });
  ends.push(() => python.kill('SIGKILL'));
  const lines = createInterface({ input: python.stdout })[Symbol.asyncIterator]();
  return async (url) => {
    python.stdin.write(`${url}\n`);
    const { value, done } = await lines.next();
    if (done === true) throw new Error('python3 has ended');
    return JSON.parse(value) as Copy;
  };
}

/** The server's records of the collection, in the form of a copy. */
async function servedBy(client: Client): Promise<Copy> {
  const { headers, body } = await client.get('/api/v3/notes.ndjson');
  const records = body.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as PlainRecord]));
  return {
    generation: headers['x-generation']!,
    records: Object.fromEntries(records.map((record) => [record.ob_id, record])),
  };
}

interface Following {
  readonly command: CommandProcess;
  readonly url: string;
  readonly client: Client;
  /** Expects that the order has this outcome. */
  order(name: 'refresh' | 'rollback', status?: string): Promise<void>;
}

async function following(upstream: string, state: string): Promise<Following> {
  const flags = ['--follow', upstream, '--state', state, '--every', '1d', '--rate', '1000', '--gzip', 'live'];
  const command = runCommand(['serve', '--port', '0', '--admin-port', '0', ...flags]);
  ends.push(() => command.kill());
  const [, admin] = await command.printed(/admin on (http:\S+)\/status/);
  const [, url] = await command.printed(/listening on (http:\S+)\n/);
  const client = clientOf(url!);
  ends.push(() => client.close());
  const order = async (name: string, status = 'swapped'): Promise<void> => {
    const response = await fetch(`${admin}/${name}`, { method: 'POST' });
    expect(await response.json()).toMatchObject({ status });
  };
  return { command, url: url!, client, order };
}

/** Other notes: some are new, some changed, and now and then one is gone. */
function changedNotes(notes: readonly PlainRecord[], n: number, random = randomOf(n)): readonly PlainRecord[] {
  const kept = n % 3 === 0 ? notes.toSpliced(random.integer(0, notes.length), 1) : notes;
  const changed = kept.map((note) => (random.chance(0.05) ? { ...note, text: `changed in ${n}` } : note));
  const last = Math.max(...notes.map(({ ob_id }) => ob_id));
  return [...changed, { ob_id: last + 1, text: `made in ${n}` }];
}

function notesOf(count: number): readonly PlainRecord[] {
  return Array.from({ length: count }, (_, i) => ({ ob_id: i + 1, text: 'first' }));
}

describe.skipIf(!hasProgram('python3') || !hasLibrary('python3-requests'))('the program of the guide', () => {
  test(
    'keeps a copy in step over many generations, a rollback and a restart of the server',
    { timeout: 900_000 },
    async () => {
      const collections = { notes: notesOf(200) };
      const upstream = await startPlainUpstream({ collections });
      const state = join(mkdtempSync(join(directory, 'state-')), 'state');
      const update = mirrorOf('notes');
      let server = await following(upstream.url, state);
      expect(await update(server.url)).toEqual(await servedBy(server.client));
      for (let n = 1; n <= GENERATIONS; n++) {
        collections.notes = changedNotes(collections.notes, n);
        await server.order('refresh');
        if (n === ROLLED_BACK) {
          expect(await update(server.url)).toEqual(await servedBy(server.client));
          await server.order('rollback');
        }
        if (n === RESTARTED) {
          await server.command.stop();
          server = await following(upstream.url, state);
          // The refresh of the start must not see the next notes.
          await server.order('refresh', 'unchanged');
        }
        if (SLEPT.includes(n)) continue;
        const copy = await update(server.url);
        expect(copy, `generation ${n}`).toEqual(await servedBy(server.client));
        if (n !== ROLLED_BACK) expect(Object.values(copy.records)).toEqual(collections.notes);
      }
    },
  );
});

test(
  'a replica behind a target has the changes, until the log of its publisher begins again',
  { timeout: 120_000 },
  async () => {
    const collections = { notes: notesOf(10) };
    const upstream = await startPlainUpstream({ collections });
    const output = join(mkdtempSync(join(directory, 'follow-')), 'folder');
    const { folder, url } = newFolder(directory);
    const publish = async (): Promise<string> => {
      const words = ['follow', upstream.url, '-o', output, '--once', ...QUICK, '--publish-to', url];
      const command = runCommand(words);
      expect(await command.ended, command.out()).toMatchObject({ code: 0 });
      return /"event":"published".*?"generation":"(\w+)"/.exec(command.out())![1]!;
    };
    const first = await publish();
    const http = await serveFolder(folder);
    ends.push(() => http.close());
    const cache = mkdtempSync(join(directory, 'cache-'));
    const started = async (): Promise<{ readonly replica: Follower; readonly client: Client }> => {
      const replica = await startFollower(http.url, cache);
      const [, origin] = await replica.printed(/listening on (http:\S+)\n/);
      const client = clientOf(origin!);
      ends.push(
        () => replica.kill(),
        () => client.close(),
      );
      return { replica, client };
    };
    let { replica, client } = await started();
    const since = async (generation: string): Promise<unknown> => {
      const { status, body } = await client.get(`${TARGET}?since=${generation}`);
      if (status !== 200) return status;
      const lines = body.trimEnd().split('\n');
      return lines.map((line) => {
        const { id, change, next } = JSON.parse(line) as Readonly<Record<string, unknown>>;
        return next ?? `${id as number} ${change as string}`;
      });
    };
    const shortOf = (generation: string): string => generation.slice(0, 12);
    expect(await since(first)).toEqual([shortOf(first)]);
    collections.notes = [...notesOf(9), { ob_id: 11 }];
    const second = await publish();
    await servesAtLast(replica, { generation: second });
    expect(await since(first)).toEqual(['10 deleted', '11 created', shortOf(second)]);
    expect(await replica.rollback()).toMatchObject({ status: 'swapped' });
    expect([await since(first), await since(second)]).toEqual([[shortOf(first)], 410]);
    await replica.stop();
    ({ replica, client } = await started());
    expect([await since(first), await since(second)]).toEqual([[shortOf(first)], 410]);
    collections.notes = notesOf(8);
    const third = await publish();
    await servesAtLast(replica, { generation: third });
    expect(await since(second)).toEqual(['9 deleted', '11 deleted', shortOf(third)]);
    expect(await since(first)).toEqual(['10 deleted', '11 created', '9 deleted', '11 deleted', shortOf(third)]);
    rmSync(join(output, CHANGES_FILE));
    collections.notes = notesOf(7);
    const fourth = await publish();
    await servesAtLast(replica, { generation: fourth });
    expect(await since(third)).toEqual(['8 deleted', shortOf(fourth)]);
    expect(await since(second)).toBe(410);
  },
);
