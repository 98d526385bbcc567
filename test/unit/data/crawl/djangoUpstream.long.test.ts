// A crawl of a service on Django REST Framework over SQLite, whose links have no format: six collections of the sample
// come back, where it heeds `ordering` and where it lists the newest first whatever is asked.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runProgram } from '../../../support/commandProcess.ts';
import { crawled, recordsOf } from '../../../support/crawls.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { hasLibrary } from '../../../support/debian.ts';

const SAMPLE = fileURLToPath(new URL('../../../../data/sample', import.meta.url));
const SERVICE = fileURLToPath(new URL('../../../support/djangoUpstream.py', import.meta.url));
const COLLECTIONS = ['instruments', 'ipps', 'parties', 'platforms', 'rpis', 'times'];
const directory = temporaryDirectory();

/** The lines of a collection in the sample, without the one column that the service has not. */
function linesOf(collection: string): string {
  const text = readFileSync(join(SAMPLE, `${collection}.ndjson`), 'utf8');
  return text.replaceAll(/,"location":(?:null|"[^"]*")/g, '');
}

function newestFirst(lines: string): string {
  return lines.trimEnd().split('\n').toReversed().join('\n') + '\n';
}

test.skipIf(!hasLibrary('python3-django') || !hasLibrary('python3-djangorestframework')).each([
  ['ordered', (lines: string) => lines],
  ['unordered', newestFirst],
])('a service that is %s gives back what it was filled with', async (order, expected) => {
  const scratch = join(directory, order);
  mkdirSync(scratch);
  const service = runProgram('/usr/bin/python3', [SERVICE, SAMPLE, join(scratch, 'database'), order]);
  try {
    const [, url] = await service.printed(/listening on (http:\S+)\n/);
    const output = join(scratch, 'crawled');
    const report = await crawled(url!, output);
    const wanted = Object.fromEntries(COLLECTIONS.map((name) => [`${name}.ndjson`, expected(linesOf(name))]));
    expect(recordsOf(output)).toEqual(wanted);
    expect(report?.links).toBeGreaterThan(900);
  } finally {
    await service.kill();
  }
});
