import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COMPILED, compiledFile } from '../../../support/compileKernel.ts';
import { isInstalled } from '../../../support/ownPackages.ts';

test.skipIf(!isInstalled('test/assemblyscript')).each(COMPILED)(
  'compiles $sources to the committed bytes',
  async (compiled) => {
    const committed = readFileSync(new URL(`../../../../${compiled.file}`, import.meta.url), 'utf8');
    expect(await compiledFile(compiled)).toBe(committed);
  },
);
