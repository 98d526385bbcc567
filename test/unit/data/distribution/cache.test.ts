// A cache that cannot be had: what names it is said, since its folder may be a default that nobody has read of. What it
// keeps is seen in followers.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SnapshotCache } from '../../../../data/distribution/cache.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';

const directory = temporaryDirectory();

test('a folder that cannot be made is told with the flag that names it', () => {
  const file = join(directory, 'file');
  writeFileSync(file, '');
  const message = expect.stringContaining(`cannot write ${file}/cache, the folder of --cache: ENOTDIR`) as unknown;
  expect(() => SnapshotCache.open(`${file}/cache`, 'file:///target')).toThrow(
    expect.objectContaining({ code: 'file', message }),
  );
});
