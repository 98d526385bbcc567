import { expect, test } from 'vitest';
import { hasProgram, LIBRARIES, PROGRAMS, skippedLine, type Library, type Program } from '../../support/debian.ts';

test('a program is found where a directory of the PATH has it, and nowhere else', () => {
  expect(hasProgram('curl', '')).toBe(false);
  expect(hasProgram('curl', '/nonexistent:/dev/null')).toBe(false);
});

test('missing programs are one line that names their packages, and none is no line', () => {
  const names = [...(Object.keys(PROGRAMS) as Program[]), ...(Object.keys(LIBRARIES) as Library[])];
  expect(skippedLine(names)).toMatch(/^Skipped the tests that drive .*apt-get install [a-z0-9 +-]+\)$/);
  expect(skippedLine(['wsdl2h', 'php-soap'])).toContain('apt-get install gsoap php-soap)');
  expect(skippedLine([])).toBeUndefined();
});
