// A server that follows a catalogue which misbehaves, in a newly drawn way and at any page each time. It keeps serving,
// reports the error, bounds its requests, and loads the new data once the catalogue recovers.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type CommandProcess, runCommand } from '../../../support/commandProcess.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import {
  type Misbehave,
  NOTES,
  PLACES,
  type Place,
  type RudeUpstream,
  startRudeUpstream,
} from '../../../support/plainUpstream.ts';
import { RUN_SEED, randomOf } from '../../../support/random.ts';
import { someOf } from '../../../support/ring.ts';
import { RUDE_WAYS, type RudeWay } from '../../../support/rudeWays.ts';

const random = randomOf(RUN_SEED);
const directory = temporaryDirectory();
const running: (CommandProcess | RudeUpstream)[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await ('kill' in one ? one.kill() : one.close());
});

/** Six tries of one page, and each other page of a sweep once or twice. */
const ASKED_MAX = 40;

/** Ways that fail and respond. Without a response, each would cost its timeout six times. */
const WAYS = RUDE_WAYS.filter(({ name, outcome }) => outcome !== 'harmless' && !/never|stops/.test(name));

const wholesome: Misbehave = ({ response, page }) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));

test(`keeps serving, and reports the errors of the catalogue (seed ${RUN_SEED})`, async () => {
  let way: Pick<RudeWay, 'misbehave'> = { misbehave: wholesome };
  const place = random.pick(Object.keys(PLACES) as Place[]);
  const upstream = await startRudeUpstream((occasion) => way.misbehave(occasion), place, Infinity);
  running.push(upstream);
  const state = join(mkdtempSync(join(directory, 'state-')), 'state');
  const words = ['--follow', upstream.url, '--state', state, '--every', '1h', '--sweep-every', '1s', '--rate', '1000'];
  const server = runCommand(['serve', '--port', '0', '--admin-port', '0', '--threads', '1', ...words]);
  running.push(server);
  const [, admin] = await server.printed(/admin on (http:\S+)\/status/);
  const [, url] = await server.printed(/listening on (http:\S+)\n/);
  const served = async (): Promise<unknown> => {
    const answer = await fetch(`${url}/api/v3/notes/?limit=${NOTES}`);
    return [answer.headers.get('etag'), await answer.text()];
  };
  const before = await served();
  expect(before).toEqual([expect.any(String), expect.stringContaining(`"count":${NOTES},"next":null`)]);
  for (const rude of someOf(WAYS, 3)) {
    way = rude;
    const asked = upstream.asked();
    const refresh = fetch(`${admin}/refresh`, { method: 'POST' });
    while (!(await Promise.race([refresh.then(() => true), served().then(() => false)])))
      expect(await served(), rude.name).toEqual(before);
    const answer = await refresh;
    const reason = expect.stringMatching(
      new RegExp(`^notes, page at offset \\d+ \\(${upstream.url}/api/v3/notes/`),
    ) as string;
    expect([rude.name, place, answer.status, await answer.json()]).toEqual([
      rude.name,
      place,
      422,
      expect.objectContaining({ status: 'refused', reason }),
    ]);
    expect(await served(), rude.name).toEqual(before);
    expect(upstream.asked() - asked, rude.name).toBeLessThan(ASKED_MAX);
    expect(upstream.askedElsewhere()).toBe(0);
  }
  way = { misbehave: wholesome };
  const answer = await fetch(`${admin}/refresh`, { method: 'POST' });
  expect(await answer.json()).toMatchObject({ status: 'unchanged' });
});
