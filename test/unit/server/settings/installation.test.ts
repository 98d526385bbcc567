// The version that a program tells of itself, in a copy of the file that reads it, beside a package that is replaced.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { ROOT } from '../../../support/sources.ts';

test('the version is that of the start, whatever is installed in its place later', async () => {
  const folder = temporaryDirectory();
  const copy = join(folder, 'server/settings/values.ts');
  mkdirSync(join(folder, 'server/settings'), { recursive: true });
  copyFileSync(join(ROOT, 'server/settings/values.ts'), copy);
  const packed = (version: string): void => writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }));
  packed('1.2.3');
  const { packageVersion } = (await import(pathToFileURL(copy).href)) as { readonly packageVersion: () => string };
  expect(packageVersion()).toBe('1.2.3');
  packed('1.3.0');
  expect(packageVersion()).toBe('1.2.3');
});
