// What the bench refuses before it measures anything, since it would mean nothing; flags.long.test.ts asks the command.
import { expect, test } from 'vitest';
import { prepareDataSet } from '../../../bench/load/dataSet.ts';
import { runInstructionBench } from '../../../bench/load/instructions.ts';
import { temporaryDirectory } from '../../support/dataSets.ts';

const DATA = { observations: 200, seed: 5, cacheDirectory: temporaryDirectory() };

test('a snapshot without its data set is refused', async () => {
  const preparing = prepareDataSet({ ...DATA, snapshot: 'some.snapshot' }, () => expect.unreachable());
  await expect(preparing).rejects.toMatchObject({ code: 'usage', message: expect.stringMatching(/^--snapshot goes/) });
});

test('instructions of what is not compared with bytes are refused, in place of an empty table', async () => {
  const counting = runInstructionBench({ ...DATA, only: ['tiny', 'gzip'] }, { onProgress: () => {}, onStep: () => {} });
  await expect(counting).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringMatching(/^gzip is not compared with bytes .* counts tiny, 304, record, .*, baseUrl, /),
  });
});
