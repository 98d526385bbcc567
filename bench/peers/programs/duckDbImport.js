// An import into DuckDB, a peer: every collection a table as the reader of NDJSON finds its columns, in as many threads
// as there are cores, no index. Arguments: the file of the database, which is replaced, and the directory of the data
// set.
import { rmSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { collectionsIn } from './rows.js';

const [file, directory] = process.argv.slice(2);
rmSync(file, { force: true });
const instance = await DuckDBInstance.create(file);
let parsed = 0;
const connection = await instance.connect();
for (const { table, file: lines } of collectionsIn(directory)) {
  const source = lines.replaceAll("'", "''");
  await connection.run(`CREATE TABLE "${table}" AS SELECT * FROM read_ndjson_auto('${source}')`);
  const [[count]] = (await connection.runAndReadAll(`SELECT count(*) FROM "${table}"`)).getRows();
  parsed += Number(count);
}
connection.closeSync();
instance.closeSync();
process.stdout.write(`{"parsed":${parsed}}\n`);
