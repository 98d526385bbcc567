import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runCommand, type CommandProcess } from '../../../support/commandProcess.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { sampleSnapshot } from '../../../support/sampleSnapshot.ts';
import { testSite, validAround } from '../../../support/authorities.ts';
import { ecPair } from '../../../support/pki.ts';
import { epochSeconds } from '../../../../server/observe/clock.ts';

let command: CommandProcess | undefined;
const site = testSite({ site: ecPair(), partner: ecPair(), validity: validAround(epochSeconds()) });
afterAll(async () => {
  await command?.kill();
  site.remove();
});

test('has a working authority thread when it reports that it listens', async () => {
  const log = join(temporaryDirectory(), 'modules.log');
  const tracing = `data:text/javascript,${encodeURIComponent(`
    import { appendFileSync } from 'node:fs';
    import { registerHooks } from 'node:module';
    import { threadId } from 'node:worker_threads';
    registerHooks({
      load(url, context, next) {
        const loaded = next(url, context);
        appendFileSync(${JSON.stringify(log)}, threadId + ' ' + url + '\\n');
        return loaded;
      },
    });`)}`;
  const words = [
    'serve',
    '--data',
    await sampleSnapshot(),
    '--authority',
    site.config,
    '--port',
    '0',
    '--threads',
    '1',
  ];
  command = runCommand(words, { node: ['--import', tracing] });
  await command.printed(/listening on http:\S+\n/);
  const read = readFileSync(log, 'utf8').trim().split('\n');
  const threads = read
    .filter((line) => line.endsWith('/server/authority/thread.ts'))
    .map((line) => line.split(' ')[0]!);
  expect(threads).toHaveLength(1);
  const own = read.filter((line) => line.startsWith(`${threads[0]!} `));
  expect(own.some((line) => line.endsWith('/server/authority/soap/requests.ts'))).toBe(true);
});
