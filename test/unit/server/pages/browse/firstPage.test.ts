import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const SUPPORT = new URL('../../../../support/', import.meta.url).href;
/**
 * Turns of a page of a list: one finds it, the next one makes it. A new process counts them, because modules are read
 * once and other requests must get their turns meanwhile.
 */
const STEPS = 2;
const COUNTING = `
const { formHandler } = await import('${SUPPORT}formCatalogue.ts');
const { requestOf, STAYING } = await import('${SUPPORT}requests.ts');
const handler = formHandler();
const turnsOf = async () => {
  let turns = 0;
  let next = setImmediate(function count() {
    turns++;
    next = setImmediate(count);
  });
  const headers = { accept: 'text/html' };
  const { status } = await handler(requestOf({ url: '/browse/observations/', headers }), STAYING);
  clearImmediate(next);
  return [status, turns];
};
process.stdout.write(JSON.stringify([await turnsOf(), await turnsOf()]));
`;

test('gives other requests their turn between the imports of a first page, and makes the second in its two steps', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', COUNTING], {
    encoding: 'utf8',
  });
  expect(stdout, stderr).not.toBe('');
  const [first, second] = JSON.parse(stdout) as readonly (readonly [number, number])[];
  expect(first).toEqual([200, expect.any(Number)]);
  expect(first![1]).toBeGreaterThan(3 + STEPS);
  expect(second).toEqual([200, STEPS]);
});
