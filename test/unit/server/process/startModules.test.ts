// Modules that a start of the server reads: the number that the supervisor and a serving thread load before the first
// response, and none that only other commands or settings need. Counts have no noise; bench/FIGURES.md has the time.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keepBlocks } from '../../../../data/blocks/blockStore.ts';
import { clientOf } from '../../../support/client.ts';
import { type CommandProcess, runCommand } from '../../../support/commandProcess.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../../support/dataSets.ts';

const BASE_URL = 'https://a.example.org';
const directory = temporaryDirectory();
const ROOT = new URL('../../../../', import.meta.url).href;
let command: CommandProcess;
let supervisor: readonly string[];
let thread: readonly string[];
let builtins: readonly string[];

beforeAll(async () => {
  const { file } = await imported(dataSetOf(directory, { 'ipps.ndjson': '' }), { file: join(directory, 'a.snapshot') });
  await keepBlocks(file, { baseUrl: BASE_URL, threads: 1 }, () => undefined);
  const log = join(directory, 'modules.log');
  const tracing = `data:text/javascript,${encodeURIComponent(`
    import { appendFileSync } from 'node:fs';
    import { registerHooks } from 'node:module';
    import { isMainThread } from 'node:worker_threads';
    registerHooks({
      resolve(specifier, context, next) {
        const found = next(specifier, context);
        appendFileSync(${JSON.stringify(log)}, (isMainThread ? 'supervisor ' : 'thread ') + found.url + '\\n');
        return found;
      },
    });`)}`;
  command = runCommand(['serve', '--data', file, '--base-url', BASE_URL, '--port', '0', '--threads', '1'], {
    node: ['--import', tracing],
  });
  const [, url] = await command.printed(/listening on (http:\S+)\n/);
  const client = clientOf(url!);
  expect(await client.get('/api/v3/ipps/')).toMatchObject({ status: 200 });
  client.close();
  const lines = [...new Set(readFileSync(log, 'utf8').trim().split('\n'))].map(
    (line) => line.split(' ') as [string, string],
  );
  const loadedBy = (who: string): readonly string[] =>
    lines.filter(([by, url]) => by === who && url.startsWith('file:')).map(([, url]) => url.replace(ROOT, ''));
  builtins = lines.map(([, url]) => url).filter((url) => url.startsWith('node:'));
  supervisor = loadedBy('supervisor');
  thread = loadedBy('thread');
});
afterAll(() => command.kill());

const ownOf = (modules: readonly string[]): readonly string[] =>
  modules.filter((one) => /^(data|engine|server|workers)\//.test(one));
const matching = (modules: readonly string[], pattern: RegExp): readonly string[] =>
  modules.filter((one) => pattern.test(one));

describe('a start from a snapshot', () => {
  // The limit is the measured number and a few more. Each module takes 0.3 ms to find and compile, and 1 ms more until
  // its types are stripped.
  test.each([
    // Modules of a reload are included: there may be no free descriptor when the first reload comes.
    ['the supervisor', 'of its own', () => ownOf(supervisor), 161],
    ['the supervisor', 'in all', () => supervisor, 184],
    ['a serving thread', 'of its own', () => ownOf(thread), 138],
    ['a serving thread', 'in all', () => thread, 154],
  ] as const)('reads in %s few modules %s', (_, _of, modules, most) => {
    expect(modules().length).toBeLessThanOrEqual(most);
    expect(modules().length).toBeGreaterThan(most / 2);
  });

  test('reads in the supervisor nothing of an import', () => {
    expect(
      matching(supervisor, /^data\/(import\/|decode\/|blocks\/(?!blockStore|blockFiles)|openDirectory|synth\/)/),
    ).toEqual([]);
  });

  test('reads nothing of the authority, of SOAP or of metrics if none is configured', () => {
    const of = /^server\/(authority\/(?!soap\/(?:tally|protocol))|process\/authority|admin\/)|saxes/;
    expect(matching([...supervisor, ...thread], of)).toEqual([]);
  });

  test('reads neither the library of the pool, nor native code of msgpackr, nor node:http with its WebSocket client', () => {
    expect(matching([...supervisor, ...thread], /piscina|msgpackr-extract/)).toEqual([]);
    expect(builtins).toContain('node:worker_threads');
    expect(matching(builtins, /^node:https?$/)).toEqual([]);
  });

  test('reads neither progress bars without a terminal, nor the second listener without its port', () => {
    expect(matching([...supervisor, ...thread], /cli-progress|^server\/http\/node/)).toEqual([]);
  });

  test('reads in the serving thread neither commands nor settings nor code that builds snapshots', () => {
    expect(
      matching(thread, /commander|toml|^server\/(commands|settings|process\/serve\.)|^data\/(?!operationError)/),
    ).toEqual([]);
  });
});
