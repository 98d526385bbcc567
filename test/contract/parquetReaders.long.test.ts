// Parquet exports over both listeners, read with DuckDB, hyparquet and ClickHouse. Every row and column of every
// collection equals the NDJSON of the same list, for any records. Readers reject a truncated file.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { randomCatalogue, writeCatalogue } from '../differential/catalogues.ts';
import { CLICKHOUSE, hasClickHouse } from '../support/clickHouse.ts';
import { runCommand, runServer } from '../support/commandProcess.ts';
import { dataSetOf, imported, temporaryDirectory } from '../support/dataSets.ts';
import { expectedRows, hasDuckDb, readParquet } from '../support/parquetFiles.ts';
import { randomOf } from '../support/random.ts';
import { ROOT } from '../support/sources.ts';

const directory = temporaryDirectory();
const SAMPLE = join(ROOT, 'data/sample');
const TYPE = 'application/vnd.apache.parquet';

const lines = (...records: readonly string[]): string => records.map((record) => `${record}\n`).join('');
const LONG = 'x"\\\n€'.repeat(20_000);

/** Records with values at the ends of the ranges of their types, or beyond. */
const HOSTILE = {
  'platforms.ndjson': lines(
    `{"ob_id":1,"title":"","abstract":${JSON.stringify(LONG)},"whole":9223372036854775807,"beyond":1,"ratio":1e308,"huge":1.5}`,
    `{"ob_id":2,"title":"nul\\u0000 \\u2028 \\u2029 \\ud83d\\ude00 \\\\u0041","whole":-9223372036854775808,"beyond":9223372036854775808}`,
    `{"ob_id":9007199254740991,"title":null,"whole":9007199254740993,"ratio":-0.0,"huge":1e400,"mixed":"text","on":true}`,
    `{"ob_id":9,"whole":-0,"ratio":5e-324,"mixed":{"a":[1.50,"\\u0000"]},"any":5,"on":false,"at":"0001-01-01","a b":"text"}`,
    `{"ob_id":10,"ratio":12345678901234567890,"any":"5","at":"9999-12-31T23:59:59.999999999+14:00","__proto__":[],"":{}}`,
    `{"ob_id":11,"any":true,"at":"-","link":"{base_url}/api/v3/parties/3/?format=api","Title":"case","né\\n,":1}`,
  ),
  'observations.ndjson': lines('{"ob_id":1}'),
};

let server: Awaited<ReturnType<typeof runServer>>;
let hasServer = false;
afterAll(() => server.kill());

async function serve(data: string): Promise<void> {
  if (hasServer) await server.kill();
  hasServer = true;
  const { file } = await imported(data);
  server = await runServer(['--data', file, '--threads', '1', '--quiet', '--gzip', 'live']);
}

const bytesOf = async (target: string, port = server.port): Promise<Buffer> =>
  Buffer.from(await (await fetch(`http://127.0.0.1:${port}${target}`)).arrayBuffer());

let files = 0;

/** Compares an export, as both readers see it, with the lines of the same list. */
async function expectSame(name: string, query = '', version = 'v3'): Promise<number> {
  const list = `/api/${version}/${name}/?${query}`;
  const bytes = await bytesOf(`${list}&format=parquet`);
  expect((await bytesOf(`${list}&format=parquet`, server.http10Port)).equals(bytes), list).toBe(true);
  const file = join(directory, `${files++}.parquet`);
  writeFileSync(file, bytes);
  const { types, rows } = await readParquet(file);
  const { buffer } = Uint8Array.from(bytes);
  const names = parquetMetadata(buffer)
    .schema.slice(1)
    .map((element) => element.name);
  const ndjson = (await bytesOf(`${list}&format=ndjson`)).toString();
  const all = (await bytesOf(`/api/${version}/${name}/?format=ndjson`)).toString();
  const expected = expectedRows({ names, types }, name, ndjson, all);
  expect(differencesOf(rows, expected, names), list).toEqual([]);
  const objects = await parquetReadObjects({ file: buffer, utf8: false });
  const plain = (value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
  const read = objects.map((row) => names.map((column) => plain(row[column])));
  if (!names.includes('__proto__')) expect(differencesOf(read, expected, names), list).toEqual([]);
  return rows.length;
}

/** Removes a leading byte order mark, which is lost on the way to JavaScript. */
const unmarked = (value: unknown): unknown => (typeof value === 'string' ? value.replace(/^\ufeff/, '') : value);

/** A line for each row that differs; long texts are cut. */
function differencesOf(
  found: readonly (readonly unknown[])[],
  expected: readonly (readonly unknown[])[],
  names: readonly string[],
): readonly string[] {
  const count = found.length === expected.length ? [] : [`${found.length} rows in place of ${expected.length}`];
  const shown = (value: unknown): string => String(value).slice(0, 60);
  const cells = expected.flatMap((row, i) =>
    row.flatMap((value, j) =>
      Object.is(unmarked(value), unmarked(found[i]?.[j]))
        ? []
        : [`${i} ${names[j]}: ${shown(found[i]?.[j])}, want ${shown(value)}`],
    ),
  );
  return [...count, ...cells];
}

describe('a Parquet export of records at the ends of their types', () => {
  beforeAll(() => serve(dataSetOf(directory, HOSTILE)));

  test.skipIf(!hasDuckDb)('has every value as in NDJSON', async () => {
    expect(await expectSame('platforms')).toBe(6);
    expect(await expectSame('platforms', 'ordering=-ob_id&offset=1&limit=3&fields=whole,title,mixed')).toBe(3);
    expect(await expectSame('platforms', 'ob_id__gt=99999&fields=beyond')).toBe(1);
  });

  test.skipIf(!hasDuckDb)('has the column types of the collection, whatever the filter', async () => {
    const file = join(directory, 'types.parquet');
    writeFileSync(file, await bytesOf('/api/v3/platforms.parquet?ob_id=1'));
    const { names, types } = await readParquet(file);
    const typed = Object.fromEntries(names.map((name, i) => [name, types[i]]));
    expect(typed).toMatchObject({
      ob_id: 'BIGINT',
      whole: 'BIGINT',
      beyond: 'VARCHAR',
      ratio: 'DOUBLE',
      huge: 'VARCHAR',
      on: 'BOOLEAN',
      at: 'VARCHAR',
      mixed: 'VARCHAR',
      any: 'VARCHAR',
    });
  });

  test.skipIf(!hasDuckDb)('has its columns in a list without records, and always at least one column', async () => {
    expect(await expectSame('parties')).toBe(0);
    expect(await expectSame('platforms', 'ob_id=77')).toBe(0);
    const file = join(directory, 'named.parquet');
    writeFileSync(file, await bytesOf('/api/v3/platforms/?format=parquet&fields=nothing'));
    expect(await readParquet(file)).toMatchObject({ names: ['ob_id'], rows: { length: 6 } });
  });

  test.skipIf(!hasDuckDb)('is rejected when it is truncated, wherever it ends', async () => {
    const bytes = await bytesOf('/api/v3/platforms/?format=parquet');
    const file = join(directory, 'cut.parquet');
    for (let end = bytes.length - 1; end > 0; end -= Math.ceil(bytes.length / 40)) {
      writeFileSync(file, bytes.subarray(0, end));
      await expect(readParquet(file), `cut at ${end} of ${bytes.length}`).rejects.toThrow();
    }
  });

  test('has its type and file name in the headers; HEAD has the same', async () => {
    for (const port of [server.port, server.http10Port]) {
      const url = `http://127.0.0.1:${port}/api/v3/platforms/`;
      for (const [target, accept] of [
        ['?format=parquet', '*/*'],
        ['', TYPE],
      ] as const) {
        const headers = { accept, 'accept-encoding': 'gzip' };
        const found = await fetch(url + target, { headers });
        const { byteLength } = await found.arrayBuffer();
        expect(found.headers.get('content-type')).toBe(TYPE);
        expect(found.headers.get('content-encoding')).toBeNull();
        expect(found.headers.get('content-disposition')).toBe('attachment; filename="platforms.parquet"');
        expect(found.headers.get('content-length')).toBe(String(byteLength));
        const known = await fetch(url + target, { method: 'HEAD', headers: { accept } });
        expect(known.headers.get('content-length')).toBe(String(byteLength));
        expect(known.headers.get('etag')).toBe(found.headers.get('etag'));
        const again = await fetch(url + target, {
          headers: { ...headers, 'if-none-match': found.headers.get('etag')! },
        });
        expect(again.status).toBe(304);
      }
    }
    const record = await fetch(`http://127.0.0.1:${server.port}/api/v3/platforms/9/?format=parquet`);
    expect(record.headers.get('content-disposition')).toBe('attachment; filename="platforms-9.parquet"');
    const refused = await fetch(
      `http://127.0.0.1:${server.port}/api/v3/platforms/?format=parquet&strict=1&fileds=title`,
    );
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('fields')]);
  });
});

describe.each([1, 2, 3])('a Parquet export of a random catalogue (seed %i)', (seed) => {
  const data = join(directory, `random-${seed}`);

  beforeAll(async () => {
    writeCatalogue(randomCatalogue(randomOf(seed)), data);
    await serve(data);
  });

  test.skipIf(!hasDuckDb)('has every value of every collection as in NDJSON', async () => {
    let rows = 0;
    for (const { name } of COLLECTIONS) rows += await expectSame(name);
    expect(rows).toBeGreaterThan(300);
    for (const { name } of COLLECTIONS.filter(({ versions }) => versions.includes('v2')).slice(0, 8)) {
      await expectSame(name, 'ordering=-ob_id&offset=2', 'v2');
      await expectSame(name, 'after=3&limit=7');
      await expectSame(name, 'ob_id__in=1,2,3,5,8,13,21,34,55,89&fields=ob_id,note,title,owners,place');
    }
  });
});

test.skipIf(!hasClickHouse || !hasDuckDb)('gives ClickHouse and DuckDB the same values of the sample', async () => {
  const folder = join(directory, 'sample');
  expect((await runCommand(['export', 'all', '-o', folder, '--data', SAMPLE]).ended).code).toBe(0);
  const files = COLLECTIONS.map(({ name }) => join(folder, `${name}.parquet`));
  const settings = 'SETTINGS output_format_json_quote_64bit_integers = 1';
  const sql = files.map((file) => `SELECT * FROM file('${file}') ORDER BY 1 ${settings}`).join(';');
  const words = [CLICKHOUSE, 'local', '--format', 'JSONCompactEachRow', '--query', sql];
  const printed = execFileSync(process.execPath, words, { encoding: 'utf8', maxBuffer: 1 << 30 });
  const rows: unknown[] = [];
  for (const file of files) rows.push(...(await readParquet(file)).rows);
  expect(rows.length).toBeGreaterThan(4000);
  expect(
    printed
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual(rows);
});
