import { statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openDirectory } from '../../../data/openDirectory.ts';
import { OperationError } from '../../../data/operationError.ts';
import { dataSetOf, temporaryDirectory } from '../../support/dataSets.ts';

const directory = temporaryDirectory();
const LINES = Array.from({ length: 500 }, (_, i) => `${JSON.stringify({ ob_id: i, text: `note ${i}` })}\n`).join('');

test.each([
  ['lines', 'notes.ndjson', LINES, 1],
  ['compressed lines', 'notes.ndjson.gz', gzipSync(LINES), 7],
])('estimates the memory for %s from their content', async (_what, name, content, times) => {
  const data = dataSetOf(directory, { [name]: content });
  const asked: number[] = [];
  const assertRoom = (bytes: number): void => {
    asked.push(bytes);
    throw new OperationError('memory', 'no room');
  };
  const opening = openDirectory(data, { baseUrl: 'http://h', threads: 0, assertRoom }, () => undefined);
  await expect(opening).rejects.toThrow('no room');
  expect(asked).toEqual([statSync(join(data, name)).size * times * 2.1]);
});
