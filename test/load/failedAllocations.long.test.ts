// Failed allocations of threads and memory, one per server: either the start is refused in one line, or the server does
// all its work again.
import { mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type BenchAuthority, openBenchAuthority } from '../../bench/authority/authorityFiles.ts';
import { THREAD_KINDS } from '../../server/observe/events.ts';
import { SAMPLE } from '../../server/settings/declarations.ts';
import { statusOf } from '../support/client.ts';
import { type CommandProcess, runCommand } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { someSteps } from '../support/ring.ts';
import { heavyPathOf, isAtWork } from '../support/threadWork.ts';
import { until, withinLimit } from '../support/waits.ts';

/** Flags of Node that make the n-th allocation fail, counted from 1, and the number of allocations requested so far. */
interface FailedAllocation {
  readonly node: readonly string[];
  asked(): number;
}

/** Makes the n-th allocation fail. Its files are created in `directory`. */
function failedAllocation(directory: string, n: number): FailedAllocation {
  const own = mkdtempSync(join(directory, 'allocation-'));
  const count = join(own, 'count');
  writeFileSync(count, '');
  const preload = join(own, 'preload.mjs');
  writeFileSync(
    preload,
    `import { appendFileSync, statSync } from 'node:fs';
     import module from 'node:module';
     import worker from 'node:worker_threads';
     const file = ${JSON.stringify(count)};
     const isRefused = () => {
       appendFileSync(file, '.');
       return statSync(file).size === ${n};
     };
     const refusing = (Made, error) => new Proxy(Made, {
       construct(made, words, target) {
         if (isRefused()) throw error();
         return Reflect.construct(made, words, target);
       },
     });
     const starved = () =>
       Object.assign(new Error('Worker initialization failure: EMFILE'), { code: 'ERR_WORKER_INIT_FAILED' });
     const noMemory = (what) => () => new RangeError(what);
     const plant = (place, name, error) => {
       place[name] = refusing(place[name], error);
     };
     plant(worker, 'Worker', starved);
     plant(WebAssembly, 'Memory', noMemory('WebAssembly.Memory(): could not allocate memory'));
     plant(globalThis, 'SharedArrayBuffer', noMemory('Array buffer allocation failed'));
     module.syncBuiltinESMExports();`,
  );
  return { node: ['--import', preload], asked: () => statSync(count).size };
}

const directory = temporaryDirectory();

let authority: BenchAuthority;
beforeAll(async () => void (authority = await openBenchAuthority()));
afterAll(() => authority.stop());

let running: CommandProcess | undefined;
afterEach(() => running?.kill());

/**
 * Serves with one failing allocation and sends all requests. Returns the outcome and the number of requested
 * allocations.
 */
async function servedWithout(n: number): Promise<{ readonly outcome: string; readonly asked: number }> {
  const { node, asked } = failedAllocation(directory, n);
  const words = ['serve', '--data', SAMPLE, '--port', '0', '--threads', '1', '--gzip', 'live', ...authority.flags];
  const command = runCommand(words, { node });
  running = command;
  const listening = await command.printed(/listening on (http:\S+:(\d+))\n/).catch((error: unknown) => error);
  if (listening instanceof Error) {
    expect([n, listening.message]).toEqual([n, expect.stringMatching(/^ended \(1\) without /)]);
    expect(command.err()).toMatch(/(?:^|\n)catalogue-replica: .*\n$/);
    expect(command.err()).not.toMatch(/^ +at /m);
    return { outcome: `${n}: ended`, asked: asked() };
  }
  const [, url, port] = listening as [string, string, string];
  const server = { url, port: Number(port) };
  const first = await statusOf(url, heavyPathOf(n));
  for (const status of [first, await statusOf(url, '/openapi.json')]) expect([200, 503]).toContain(status);
  for (const kind of THREAD_KINDS) await until(() => isAtWork(kind, server, authority, n));
  command.signal('SIGTERM');
  const end = await withinLimit(command.ended, () => `${n} did not end:\n${command.err()}`);
  expect([n, end]).toEqual([n, { code: 0, signal: null }]);
  return { outcome: `${n}: ${first}`, asked: asked() };
}

test('survives one failed allocation of a thread or of memory: refused in a line, or 503 and then recovered', async () => {
  const { asked } = await servedWithout(0);
  const outcomes: string[] = [];
  for (const n of someSteps(asked, Math.ceil(asked / 6))) outcomes.push((await servedWithout(n)).outcome);
  process.stderr.write(`${outcomes.join(', ')}\n`);
});
