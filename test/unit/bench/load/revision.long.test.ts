// Another revision beside this tree: it runs from its own sources, is raced where it answers the same, and is removed.
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { prepareDataSet } from '../../../../bench/load/dataSet.ts';
import { runLoadBench } from '../../../../bench/load/load.ts';
import { loadTable } from '../../../../bench/report/report.ts';
import { prepareRevision } from '../../../../bench/load/revision.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';

/** A tree that was not cloned has no revisions. */
const IS_CLONE = existsSync(new URL('../../../../.git', import.meta.url));

const cacheDirectory = temporaryDirectory();
const OPTIONS = {
  observations: 200,
  seed: 5,
  cacheDirectory,
  rounds: 1,
  only: ['tiny'],
  requestsPart: 0.004,
  warmUp: 1,
};
const QUIET = { onProgress: () => {}, onStep: () => {} };

describe.skipIf(!IS_CLONE)('a revision', () => {
  test('has the sources that git knows, until it is stopped', async () => {
    const data = await prepareDataSet(OPTIONS, () => {});
    const { name, root, snapshot, stop } = await prepareRevision('HEAD', data, cacheDirectory);
    expect(name).toMatch(/^[0-9a-f]{12}$/);
    expect([existsSync(`${root}/server/launch.js`), existsSync(snapshot)]).toEqual([true, true]);
    await stop();
    expect([existsSync(root), existsSync(data.snapshot)]).toEqual([false, true]);
  });

  test('that git does not know is refused', async () => {
    const data = await prepareDataSet(OPTIONS, () => {});
    const preparing = prepareRevision('no-such-revision', data, cacheDirectory);
    await expect(preparing).rejects.toThrow('--against: git knows no revision no-such-revision');
  });

  test('is raced in the same rounds, with a ratio of its own', async () => {
    const options = { ...OPTIONS, floorBytes: 1 << 20, against: 'HEAD' };
    const reports = await runLoadBench(options, QUIET);
    expect(reports[0]?.against?.ratio).toBeGreaterThan(0);
    const revision = reports[0]!.against!.revision;
    expect(loadTable(reports, 'hand')[0]).toContain(`ratio to ${revision}`);
  });
});
