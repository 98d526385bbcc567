// Another revision beside this tree: it runs from its own sources, is raced where it answers the same, and is removed.
import { existsSync, readdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
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

afterEach(() => void vi.unstubAllEnvs());

function pathOf(program: string): string {
  const files = process.env['PATH']!.split(delimiter).map((directory) => join(directory, program));
  return files.find((file) => existsSync(file))!;
}

describe.skipIf(!IS_CLONE)('a revision', () => {
  test('has the sources that git knows, until it is stopped', async () => {
    const data = await prepareDataSet(OPTIONS, () => {});
    const { name, root, snapshot, stop } = await prepareRevision('HEAD', data, cacheDirectory);
    expect(name).toMatch(/^[0-9a-f]{12}$/);
    expect([existsSync(`${root}/server/launch.js`), existsSync(snapshot)]).toEqual([true, true]);
    await stop();
    expect([existsSync(root), existsSync(data.snapshot)]).toEqual([false, true]);
  });

  test('whose tree cannot be made leaves none', async () => {
    const data = await prepareDataSet(OPTIONS, () => {});
    const [programs, made] = [temporaryDirectory(), temporaryDirectory()];
    // There is git, and nothing else.
    symlinkSync(pathOf('git'), join(programs, 'git'));
    vi.stubEnv('PATH', programs);
    vi.stubEnv('TMPDIR', made);
    await expect(prepareRevision('HEAD', data, cacheDirectory)).rejects.toThrow('spawn tar ENOENT');
    expect(readdirSync(made)).toEqual([]);
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
