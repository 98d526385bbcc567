// The committed bytes of the kernel are what its sources compile to.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compileKernel } from '../../../support/compileKernel.ts';
import { kernelFile } from '../../../support/kernelFile.ts';

test('the kernel compiled from its sources is the one that is committed', async () => {
  const committed = readFileSync(new URL('../../../../engine/kernel/bytes.ts', import.meta.url), 'utf8');
  expect(kernelFile(await compileKernel())).toBe(committed);
});
