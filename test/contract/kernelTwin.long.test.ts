// Runs the suites of pages, sets and queries again over the reference implementation of the kernel, so that both are
// proven to behave alike.
import { expect, test } from 'vitest';
import { kernels, kernelForScratch } from '../../engine/kernel/kernel.ts';
import { twinKernel } from '../support/kernelTwin.ts';

kernels.make = twinKernel;

test('uses the reference implementation of the kernel', () => {
  expect(String(kernelForScratch().copy)).not.toContain('[native code]');
});

for (const suite of [
  '../unit/engine/page/bodies.test.ts',
  '../unit/engine/find/execute.test.ts',
  '../unit/engine/find/scan.test.ts',
  '../unit/bench/load/counters.test.ts',
  './rowset.test.ts',
  '../property/kernelMemories.test.ts',
]) {
  await import(suite);
}
