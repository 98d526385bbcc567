// The files that pages load, where no descriptor is left to read them for a moment.
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const ASSETS_URL = new URL('../../../../server/browse/assets.ts', import.meta.url).href;

/** Asks while no descriptor is left, and again when there are some. */
const SCRIPT = `import { closeSync, openSync } from 'node:fs';
  import { assetNamed, scriptPath, stylePath } from ${JSON.stringify(ASSETS_URL)};
  const held = [];
  const attempt = (work) => {
    try {
      return work();
    } catch (error) {
      return error.code;
    }
  };
  while (attempt(() => held.push(openSync('/dev/null'))) !== 'EMFILE');
  const starved = attempt(stylePath);
  held.forEach((descriptor) => closeSync(descriptor));
  const { type } = assetNamed(scriptPath().split('/').at(-1));
  process.stdout.write(JSON.stringify([starved, stylePath(), type]));`;

test.skipIf(process.platform === 'win32')('they are read by the next page that wants them', () => {
  const words = ['-c', 'ulimit -n 100; exec "$0" --input-type=module --eval "$1"', process.execPath, SCRIPT];
  const [starved, style, type] = JSON.parse(execFileSync('sh', words, { encoding: 'utf8' })) as readonly string[];
  expect(starved).toBe('EMFILE');
  expect(style).toMatch(/^browse\/assets\/browse-[0-9a-f]{16}\.css$/);
  expect(type).toMatch(/^text\/javascript/);
});
