import { expect, test } from 'vitest';
import { hasProgram, LIBRARIES, PROGRAMS, skippedLine, type Library, type Program } from '../../support/debian.ts';

test('finds a program in a directory of the PATH, and nowhere else', () => {
  expect(hasProgram('curl', '')).toBe(false);
  expect(hasProgram('curl', '/nonexistent:/dev/null')).toBe(false);
});

test('prints missing programs in one line with their packages, and no line if none is missing', () => {
  const names = [...(Object.keys(PROGRAMS) as Program[]), ...(Object.keys(LIBRARIES) as Library[])];
  expect(skippedLine(names)).toMatch(/^Skipped the tests that drive .*apt-get install [a-z0-9 +-]+\)$/);
  expect(skippedLine(['wsdl2h', 'php-soap'])).toContain('apt-get install gsoap php-soap)');
  expect(skippedLine([])).toBeUndefined();
});
