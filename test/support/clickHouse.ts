// `clickhouse local` by the library that ClickHouse is as well: a package of its own (test/clickhouse), which .ci/run
// installs on Linux on x64, since it has 543 MB and only what reads Parquet wants it. Run with the words of that
// program: `local --query SQL [--format FORMAT]`.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** The path of the program. */
export const CLICKHOUSE: string = fileURLToPath(import.meta.url);

const PACKAGE = new URL('../clickhouse/package.json', import.meta.url);

/** Whether the library is there. */
export const hasClickHouse: boolean = existsSync(new URL('node_modules/chdb/package.json', PACKAGE));

interface Library {
  readonly query: (sql: string, format: string) => string;
}

if (process.argv[1] === CLICKHOUSE) {
  const options = { query: { type: 'string' }, format: { type: 'string', default: 'TSV' } } as const;
  const { values } = parseArgs({ options, allowPositionals: true });
  const { query } = createRequire(PACKAGE)('chdb') as Library;
  for (const sql of values.query!.split(';')) process.stdout.write(query(sql, values.format));
}
