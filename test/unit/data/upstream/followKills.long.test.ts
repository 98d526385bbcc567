// A refresh killed with SIGKILL at some of its steps, others in each run, and at moments by the clock. It leaves the
// old generation or the new one, never a third, and the next run finishes it.
import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { differencesFrom, followOnce, loggedIn } from '../../../support/crawls.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { stepsOf, abandonAll } from '../../../support/killer.ts';
import { type PlainRecord, type PlainUpstream, startPlainUpstream } from '../../../support/plainUpstream.ts';
import { RUN_SEED, randomOf } from '../../../support/random.ts';
import { someSteps, times } from '../../../support/ring.ts';
import { until } from '../../../support/waits.ts';

const directory = temporaryDirectory();
const first = join(directory, 'first');
const BEFORE: readonly PlainRecord[] = Array.from({ length: 500 }, (_, id) => ({ ob_id: id, text: `note ${id}` }));
const AFTER: readonly PlainRecord[] = [...BEFORE.slice(2), { ob_id: 900 }].with(5, { ob_id: 7, text: 'other' });
const CHANGES = ['0 deleted', '1 deleted', '7 changed', '900 created'];
const collections = { notes: BEFORE };
let upstream: PlainUpstream;
let isHolding = false;
/** Functions that release requests for pages of notes, which the upstream holds back. */
const held: (() => void)[] = [];
beforeAll(async () => {
  upstream = await startPlainUpstream({
    collections,
    onRequest: async ({ url }) => {
      if (isHolding && url!.includes('notes')) await new Promise<void>((resolve) => held.push(resolve));
    },
  });
  await followOnce(upstream.url, first).ended;
  collections.notes = AFTER;
});
afterAll(() => upstream.close());

function begun(): string {
  const folder = join(mkdtempSync(join(directory, 'follow-')), 'replica');
  cpSync(first, folder, { recursive: true });
  return folder;
}

async function judge(folder: string, when: string): Promise<void> {
  const [old, young] = [await differencesFrom(folder, BEFORE), await differencesFrom(folder, AFTER)];
  expect(old.length === 0 || young.length === 0, when).toBe(true);
  abandonAll(folder);
  expect(await followOnce(upstream.url, folder).ended, when).toEqual({ code: 0, signal: null });
  expect(await differencesFrom(folder, AFTER), when).toEqual([]);
  expect(loggedIn(folder, 0), when).toEqual(CHANGES);
}

test('leaves the old or the new generation if a refresh is killed at some of its steps', async () => {
  const steps = await stepsOf(followOnce(upstream.url, begun(), 0));
  for (const step of someSteps(steps, Math.ceil(steps / 40))) {
    const folder = begun();
    await followOnce(upstream.url, folder, step).ended;
    await judge(folder, `killed at step ${step} of ${steps}`);
  }
});

test(`leaves the old or the new generation if a refresh is killed at random moments (seed ${RUN_SEED})`, async () => {
  const random = randomOf(RUN_SEED);
  for (let i = 0; i < times(3, 100); i++) {
    const folder = begun();
    const command = followOnce(upstream.url, folder);
    const ms = random.integer(100, 2500);
    await Promise.race([setTimeout(ms), command.ended]);
    command.signal('SIGKILL');
    await command.ended;
    await judge(folder, `killed after ${ms} ms`);
  }
});

test('ends with an error and changes nothing if it is stopped until another run has its locks', async () => {
  const folder = begun();
  isHolding = true;
  const stopped = followOnce(upstream.url, folder);
  await until(() => held.length > 0);
  stopped.signal('SIGSTOP');
  const ofStopped = held.splice(0);
  abandonAll(folder);
  const second = followOnce(upstream.url, folder);
  await until(() => held.length > 0);
  for (const letGo of ofStopped) letGo();
  stopped.signal('SIGCONT');
  expect(await stopped.ended).toEqual({ code: 1, signal: null });
  expect(stopped.out()).toContain('taken by another process');
  isHolding = false;
  for (const letGo of held) letGo();
  expect(await second.ended, second.err()).toEqual({ code: 0, signal: null });
  expect(await differencesFrom(folder, AFTER)).toEqual([]);
  expect(loggedIn(folder, 0)).toEqual(CHANGES);
});
