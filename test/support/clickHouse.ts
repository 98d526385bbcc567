// `clickhouse local` by the library of ClickHouse, in the package test/clickhouse. Run with the arguments of that
// program: `local --query SQL [--format FORMAT]`.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isInstalled, requireFrom } from './ownPackages.ts';

export const CLICKHOUSE: string = fileURLToPath(import.meta.url);

const PACKAGE = 'test/clickhouse';

export const hasClickHouse: boolean = isInstalled(PACKAGE);

interface Library {
  readonly query: (sql: string, format: string) => string;
}

if (process.argv[1] === CLICKHOUSE) {
  const options = { query: { type: 'string' }, format: { type: 'string', default: 'TSV' } } as const;
  const { values } = parseArgs({ options, allowPositionals: true });
  const { query } = requireFrom(PACKAGE, 'chdb') as Library;
  for (const sql of values.query!.split(';')) process.stdout.write(query(sql, values.format));
}
