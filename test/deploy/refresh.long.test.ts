// refresh.sh after every outcome of a crawl, after an import, and with replicas. Uses commands that record their calls,
// and the program, which removes data that it refuses.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LAUNCHER_FILE } from '../../bench/processes/processes.ts';
import { type CommandProcess, runProgram } from '../support/commandProcess.ts';
import { recordsFrom } from '../support/crawls.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { hasProgram } from '../support/debian.ts';
import { type PlainRecord, plainUpstreams } from '../support/plainUpstream.ts';
import { ROOT } from '../support/sources.ts';

const SCRIPT = join(ROOT, 'deploy/refresh.sh');
const parent = temporaryDirectory();
const startPlainUpstream = plainUpstreams();

/** Writes a shell script. Returns its path. */
function scriptAt(file: string, text: string): string {
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}

interface Run {
  readonly upstream?: string;
  readonly folder?: string;
  readonly replica: string;
  readonly path?: string;
  readonly addresses?: readonly string[];
}

function started({ upstream = 'https://up.example', folder = '/data', replica, path, addresses = [] }: Run) {
  const words = [upstream, 'https://public.example', 'me@example.org', folder, ...addresses];
  const environment = { CATALOGUE_REPLICA: replica, PATH: `${path ?? parent}:${process.env['PATH']}` };
  return runProgram(SCRIPT, words, { environment, isGroup: true });
}

async function endOf(run: CommandProcess): Promise<{ readonly code: number | null; readonly err: string }> {
  const { code } = await run.ended;
  return { code, err: run.err() };
}

describe.skipIf(process.platform === 'win32')('refresh.sh', () => {
  test.skipIf(!hasProgram('curl'))('crawls, imports, and asks all replicas to reload', async () => {
    const folder = mkdtempSync(join(parent, 'calls-'));
    const calls = join(folder, 'calls');
    const stub = (name: string, fails: string): string => {
      const file = join(folder, name);
      return scriptAt(file, `echo "${basename(name)} $@" >>${calls}\n[ "$1" != "${fails}" ]`);
    };
    mkdirSync(join(folder, 'bin'));
    const run = async (fails: string) => {
      writeFileSync(calls, '');
      stub('bin/curl', fails);
      const addresses = ['a:9081', 'b:9082'];
      const { code } = await endOf(started({ replica: stub('replica', fails), path: join(folder, 'bin'), addresses }));
      return [code, readFileSync(calls, 'utf8').trimEnd().split('\n')];
    };
    const [crawl, build] = [
      'replica crawl https://up.example -o /data/catalogue --contact me@example.org --discard-refused',
      'replica import /data/catalogue -o /data/catalogue.snapshot --base-url https://public.example',
    ];
    const order = (address: string): unknown => expect.stringMatching(`^curl .*POST http://${address}/reload$`);
    expect(await run('nothing')).toEqual([0, [crawl, build, order('a:9081'), order('b:9082')]]);
    expect(await run('crawl')).toEqual([1, [crawl]]);
    expect(await run('import')).toEqual([1, [crawl, build]]);
    // An error of curl: all replicas get a reload request, even if one does not accept it.
    expect(await run('--silent')).toEqual([1, [crawl, build, order('a:9081'), order('b:9082')]]);
  });

  test('fetches everything again after a crawl that the program refused', async () => {
    const folder = mkdtempSync(join(parent, 'refused-'));
    const collections: Record<string, readonly PlainRecord[]> = { notes: [], times: recordsFrom(0, 10) };
    const { url: upstream } = await startPlainUpstream({ collections });
    const linkTo = (id: number): void => {
      collections['notes'] = [{ ob_id: 1, time: `${upstream}/api/v3/times/${id}/?format=api` }];
    };
    // The data could be crawled but not imported, so the fake program only crawls.
    const crawl = `exec ${process.execPath} ${LAUNCHER_FILE} "$@" --rate 1000`;
    const replica = scriptAt(join(folder, 'replica'), `[ "$1" = import ] || ${crawl}`);
    const run = () => endOf(started({ upstream, folder, replica }));

    linkTo(99);
    const why =
      /catalogue-replica: 1 of 1 links lead to no record, .*: it was removed, and the next run fetches all anew\n$/;
    expect(await run()).toEqual({ code: 3, err: expect.stringMatching(why) });
    expect(readdirSync(folder)).toEqual(['replica']);
    // The correction does not change any count.
    linkTo(9);
    expect(await run()).toEqual({ code: 0, err: '' });
    expect(readFileSync(join(folder, 'catalogue/notes.ndjson'), 'utf8')).toContain('/times/9/');
  });

  test('exits with 1 after a crawl that found no catalogue, and keeps any other exit code', async () => {
    const folder = mkdtempSync(join(parent, 'nowhere-'));
    const { url } = await startPlainUpstream({ collections: {} });
    const replica = scriptAt(join(folder, 'replica'), `exec ${process.execPath} ${LAUNCHER_FILE} "$@"`);
    const { code, err } = await endOf(started({ upstream: `${url}/nowhere`, folder, replica }));
    expect([code, readdirSync(folder)]).toEqual([1, ['replica']]);
    expect(err).not.toContain('anew');
  });

  test('keeps the partial data of a crawl that failed otherwise, with its exit code and message', async () => {
    const folder = mkdtempSync(join(parent, 'failed-'));
    const state = join(folder, 'catalogue.crawl');
    const what = 'catalogue-replica: notes, page at offset 50: fetch failed; 6 tries';
    const replica = scriptAt(join(folder, 'replica'), `mkdir -p ${state}\necho '${what}' >&2\nexit 1`);
    expect(await endOf(started({ folder, replica }))).toEqual({ code: 1, err: `${what}\n` });
    expect(existsSync(state)).toBe(true);
  });

  test.each(['crawl', 'import'])(
    'waits for the end of the %s when the whole process group is signalled',
    async (command) => {
      const folder = mkdtempSync(join(parent, 'ended-'));
      const ended = join(folder, 'ended');
      const replica = scriptAt(
        join(folder, 'replica'),
        `[ "$1" = ${command} ] || exit 0
trap 'sleep 0.3; echo "$1" >>${ended}; exit 143' TERM
echo begun
while :; do sleep 0.1; done`,
      );
      const run = started({ folder, replica });
      await run.printed(/begun/);
      run.signal('SIGTERM');
      expect(await run.ended).toEqual({ code: 143, signal: null });
      expect(readFileSync(ended, 'utf8')).toBe(`${command}\n`);
    },
  );
});
