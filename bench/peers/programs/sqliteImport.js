// An import into SQLite, a peer, as one writes it who wants it fast: in one thread, every collection a table of JSON
// texts and of a column for each scalar field, with an index on each but the long texts; no journal, no flush.
// Arguments: the file of the database, which is replaced, and the directory of the data set.
import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { collectionsIn, linesOf } from './rows.js';

const [file, directory] = process.argv.slice(2);
/** So many records tell which fields a collection has. */
const SAMPLED = 1000;
/** A field whose values are longer on average is a long text. */
const INDEXED_LENGTH_MAX = 100;

let parsed = 0;
rmSync(file, { force: true });
const database = new Database(file);
database.exec('PRAGMA journal_mode = off; PRAGMA synchronous = off; PRAGMA cache_size = -200000');
for (const { table, file: lines } of collectionsIn(directory)) await load(table, lines);
database.close();
process.stdout.write(`{"parsed":${parsed}}\n`);

async function load(table, lines) {
  const sampled = [];
  let begun;
  database.exec('BEGIN');
  for await (const text of linesOf(lines)) {
    if (begun) begun.insert(text);
    else if (sampled.push(text) === SAMPLED) begun = begin(table, sampled);
  }
  begun ??= begin(table, sampled);
  database.exec('COMMIT');
  for (const { key, isLong } of begun.fields) {
    if (!isLong && key !== 'ob_id') database.exec(`CREATE INDEX "${table}.${key}" ON "${table}" ("${key}")`);
  }
}

/** Makes the table and inserts what was read before its fields were known: these, and what inserts one more record. */
function begin(table, sampled) {
  const fields = fieldsOf(sampled);
  const keys = fields.map(({ key }) => key);
  const columns = keys.map((key) => (key === 'ob_id' ? 'ob_id INTEGER PRIMARY KEY' : `"${key}"`));
  database.exec(`CREATE TABLE "${table}" (${[...columns, 'json TEXT'].join(', ')})`);
  const statement = database.prepare(`INSERT INTO "${table}" VALUES (${[...keys, 'json'].map(() => '?').join(', ')})`);
  const insert = (text) => {
    const record = JSON.parse(text);
    parsed++;
    statement.run(...keys.map((key) => boundOf(record[key])), text);
  };
  for (const text of sampled) insert(text);
  return { fields, insert };
}

/** The scalar fields of some records. */
function fieldsOf(sampled) {
  const fields = new Map();
  for (const text of sampled) {
    for (const [key, value] of Object.entries(JSON.parse(text))) {
      const field = fields.get(key) ?? { key, isScalar: true, characters: 0 };
      fields.set(key, field);
      if (typeof value === 'object' && value !== null) field.isScalar = false;
      if (typeof value === 'string') field.characters += value.length;
    }
  }
  const scalar = [...fields.values()].filter(({ isScalar }) => isScalar);
  return scalar.map(({ key, characters }) => ({ key, isLong: characters > INDEXED_LENGTH_MAX * sampled.length }));
}

/** A value as SQLite takes it: what turned out nested later has no column. */
function boundOf(value) {
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'object' ? null : value;
}
