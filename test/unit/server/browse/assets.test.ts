// The files that pages load, where they cannot be read for a moment.
import { expect, test, vi } from 'vitest';
import { assetNamed, scriptPath, stylePath } from '../../../../server/browse/assets.ts';

let failures = 0;
vi.mock('node:fs', async (load) => {
  const fs = await load<typeof import('node:fs')>();
  const readFileSync: typeof fs.readFileSync = (...asked: Parameters<typeof fs.readFileSync>) => {
    if (failures-- > 0) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    return fs.readFileSync(...asked) as never;
  };
  return { ...fs, readFileSync };
});

test('they are read by the next page that wants them', () => {
  failures = 1;
  expect(stylePath).toThrow('too many open files');
  expect(stylePath()).toMatch(/^browse\/assets\/browse-[0-9a-f]{16}\.css$/);
  expect(assetNamed(scriptPath().split('/').at(-1)!)?.type).toMatch(/^text\/javascript/);
});
