// Prints the results of the statements in a file, like DuckDB's command line with `-csv`, because no Debian package has
// that command line. Runs the SQL blocks of documents. Argument: the name of the file.
import { readFileSync } from 'node:fs';
import { askDuckDb } from '../support/parquetFiles.ts';

for (const statement of readFileSync(process.argv[2]!, 'utf8').split(';')) {
  if (statement.trim() === '') continue;
  const { names, rows } = await askDuckDb(statement);
  for (const row of [names, ...rows]) process.stdout.write(`${row.map(cellOf).join(',')}\n`);
}

function cellOf(value: string | number | boolean | null): string {
  const text = String(value ?? '');
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
