// The path of a newcomer: a fresh clone, the commands of README.md in their order, and every request in it and in the
// guide for client authors, with their output. Skipped with a message if npm reaches no registry.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { steadyPort } from '../../bench/proxy/shippedProxies.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { hasProgram } from '../support/debian.ts';
import { isOutOfReach, npmOfMachine } from '../support/machine.ts';
import { ROOT } from '../support/sources.ts';
import { blocksOf, blocksOfText } from './blocks.ts';
import { blocksRunBy } from './plan.ts';
import { misprintsOf, type Outcome, runBlocks } from './script.ts';

const directory = temporaryDirectory();

test.skipIf(!hasProgram('curl'))('prints what README.md shows in a fresh clone', async ({ skip }) => {
  const clone = join(directory, 'clone');
  execFileSync('git', ['clone', '--quiet', '--depth', '1', `file://${ROOT}`, clone]);
  // A newcomer has the committed files, but the test follows the documents of the working tree.
  const blocks = blocksRunBy('test/documents/newcomer.long.test.ts', 'README.md');
  expect(blocks[0]!.text).toBe('npm ci\nnpm start\n');
  const guide = blocksOf('server/catalogue/README.md').filter(({ language }) => language === 'sh');
  const [port, other] = [await steadyPort(), await steadyPort()];
  const replaced = {
    'localhost:8080': `localhost:${port}`,
    'port 9000': `port ${other}`,
    'https://catalogue.example.org': `http://localhost:${port}`,
  };
  const environment = { CATALOGUE_PORT: `${port}`, NODE_OPTIONS: '', ...npmOfMachine() };
  const [asked] = blocksOfText(
    '',
    `\`\`\`sh\ncurl --head http://localhost:${other}/healthz | grep ^HTTP\n\`\`\`\n\n\`\`\`text\nHTTP/1.1 200 OK\n\`\`\`\n`,
  );
  const site = { directory: clone, home: join(directory, 'home'), replaced, environment, isInstalled: true };
  let outcomes: readonly Outcome[];
  try {
    outcomes = await runBlocks([...blocks, asked!, ...guide], site);
  } catch (error) {
    return isOutOfReach(String(error)) ? skip('the registry is out of reach') : expect.fail(String(error));
  }
  expect(misprintsOf(outcomes)).toEqual([]);
});
