import { join } from 'node:path';
import { expect, test } from 'vitest';
import { crawled, recordsOf } from '../../../support/crawls.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { hasDjango, startDjango } from '../../../support/django.ts';
import { ROOT } from '../../../support/sources.ts';

const SAMPLE = join(ROOT, 'data/sample');
const directory = temporaryDirectory();

/** Numbers of the sample that a 64-bit column stores differently. */
const STORED: Readonly<Record<string, readonly (readonly [token: string, stored: string])[]>> = {
  'bboxes.ndjson': [
    ['1.5E+1', '15.0'],
    ['-12.5000', '-12.5'],
    ['-0.0,', '0.0,'],
    ['51.123456789012345678901', '51.123456789012344'],
  ],
  'results.ndjson': [['18446744073709551617', '9223372036854775807']],
};

function newestFirst(lines: string): string {
  return lines.trimEnd().split('\n').toReversed().join('\n') + '\n';
}

test.skipIf(!hasDjango)('crawls the records of a service that ignores an order, and of one that does not', async () => {
  const service = await startDjango(SAMPLE, join(directory, 'database'));
  try {
    for (const ignores of [undefined, 'all'] as const) {
      const output = join(directory, `crawled-${ignores}`);
      const url = await service.switch('crawled', { ignores, gzip: true });
      const report = await crawled(url, output);
      const expected = Object.entries(recordsOf(SAMPLE)!).map(([file, lines]) => {
        const stored = (STORED[file] ?? []).reduce((text, [token, number]) => text.replaceAll(token, number), lines);
        return [file, ignores ? newestFirst(stored) : stored];
      });
      expect(recordsOf(output)).toEqual(Object.fromEntries(expected));
      expect(report).toMatchObject({ links: 13_318, dangling: 7 });
    }
  } finally {
    await service.stop();
  }
});
