// Importing is deterministic: the same data gives the same bytes, whatever the order of lines and the number of
// threads.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { dataSetOf, imported, temporaryDirectory } from '../../../support/dataSets.ts';
import { randomOf } from '../../../support/random.ts';

const SCRATCH = temporaryDirectory();
const SAMPLE = join(import.meta.dirname, '../../../../data/sample');

describe('an import of the same data', () => {
  test('gives the same bytes with 0, 1 and 2 threads', async () => {
    const files = await Promise.all(
      [0, 1, 2].map((threads) => imported(SAMPLE, { threads, file: join(SCRATCH, `threads-${threads}.snapshot`) })),
    );
    const [first, ...others] = files.map(({ file }) => readFileSync(file));
    for (const other of others) expect(other.equals(first!)).toBe(true);
    expect(new Set(files.map(({ report }) => report.generation)).size).toBe(1);
  });

  test('gives the same bytes for files of many runs and a line longer than one, compressed or not, with 0, 1 and 2 threads', async () => {
    const random = randomOf(20_261_125);
    // Texts long enough that their columns are made in threads; the last line has no newline.
    const lines = Array.from({ length: 6000 }, (_, id) => {
      const abstract = id === 4000 ? 'long '.repeat(1_000_000) : `${random.integer(0, 1e9)} `.repeat(150);
      return JSON.stringify({ ob_id: id, title: `the ${random.integer(0, 1e9)}th`, abstract });
    });
    const text = lines.join('\n');
    const plain = dataSetOf(SCRATCH, { 'projects.ndjson': text, 'phenomona.ndjson': '' });
    const zipped = dataSetOf(SCRATCH, { 'projects.ndjson.gz': gzipSync(text), 'phenomona.ndjson': '' });
    const made: Buffer[] = [];
    for (const directory of [plain, zipped]) {
      for (const threads of [0, 1, 2]) {
        const { file, report } = await imported(directory, { threads });
        expect(report.collections.find(({ name }) => name === 'projects')!.records).toBe(lines.length);
        made.push(readFileSync(file));
      }
    }
    for (const other of made) expect(other.equals(made[0]!)).toBe(true);
  });

  test('gives the same bytes if it skips faulty lines and repeated ids, whatever thread met their texts', async () => {
    // Several runs. The skipped lines have texts, keys and links that no other line has.
    const record = (id: number, i: number): string => {
      const party = `{base_url}/api/v3/parties/${i % 90}/?format=api`;
      const begun = `20${10 + (i % 90)}-01-02`;
      return JSON.stringify({ ob_id: id, title: `the ${i}th`, party, begun, n: i % 70, abstract: `${i} `.repeat(150) });
    };
    // The fault comes last in the line. The values before it would turn links and times into texts.
    const faulty = (i: number): string =>
      record(i, i + 2e6)
        .replace(/"begun":"[^"]*"/, `"begun":"in ${i}"`)
        .replace('{base_url}', 'https://elsewhere')
        .replace('"n"', `"k${i}"`)
        .replace(/\}$/, ',"title":"twice"}');
    const good = Array.from({ length: 9000 }, (_, i) => record(i, i));
    const wild = good.flatMap((line, i) => {
      if (i % 100 === 50) return [line, record(i, i + 1e6)];
      return i % 77 === 0 ? [faulty(i), line] : [line];
    });
    const directory = dataSetOf(SCRATCH, { 'projects.ndjson': good.join('\n') });
    const mixed = dataSetOf(SCRATCH, { 'projects.ndjson': wild.join('\n') });
    const clean = readFileSync((await imported(directory)).file);
    for (const threads of [0, 1, 2, 5]) {
      const { file, report } = await imported(mixed, { threads, isLenient: true });
      expect(report.skippedCount).toBe(wild.length - good.length);
      expect(readFileSync(file).equals(clean), `${threads} threads`).toBe(true);
    }
  });

  test('gives the same bytes if the lines of every file are shuffled', async () => {
    const random = randomOf(3);
    const shuffled: Record<string, string> = {};
    for (const name of readdirSync(SAMPLE)) {
      const text = readFileSync(join(SAMPLE, name), 'utf8');
      if (name.endsWith('.ndjson')) shuffled[name] = random.shuffled(text.trimEnd().split('\n')).join('\n');
    }
    const { created, counts } = JSON.parse(readFileSync(join(SAMPLE, 'MANIFEST.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    shuffled['MANIFEST.json'] = JSON.stringify({ created, counts });
    const [a, b] = [
      await imported(SAMPLE, { file: join(SCRATCH, 'sorted.snapshot') }),
      await imported(dataSetOf(SCRATCH, shuffled)),
    ];
    expect(readFileSync(b.file).equals(readFileSync(a.file)), 'seed 3').toBe(true);
  });

  test('gives the same bytes with more records out of order than a call takes arguments', async () => {
    const count = 130_000;
    const all = Array.from({ length: count }, (_, i) => `{"ob_id":${(i * 7919) % count}}`);
    const sorted = Array.from({ length: count }, (_, id) => `{"ob_id":${id}}`);
    const [a, b] = await Promise.all(
      [all, sorted].map((records) => imported(dataSetOf(SCRATCH, { 'notes.ndjson': records.join('\n') }))),
    );
    expect(a!.report.generation).toBe(b!.report.generation);
  });
});
