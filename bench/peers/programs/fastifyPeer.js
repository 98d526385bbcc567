// Fastify over SQLite, a peer, as one writes it who wants it fast. JSON texts are stored ready to be sent, filtered
// columns are indexed, statements prepared, the count of all records is known, and a page is one concatenation of
// texts. Arguments: the directory of the data set, the file of its database (made unless it is there), the base URL of
// the links.
import { existsSync, renameSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import fastify from 'fastify';
import { observationTexts } from './rows.js';

const [directory, file, baseUrl] = process.argv.slice(2);
const LIST = '/api/v3/observations/';
const LIMIT = 100;

/** Fills a database from the data set, under another name until it is whole. */
async function build() {
  const unfinished = `${file}.unfinished`;
  rmSync(unfinished, { force: true });
  const database = new Database(unfinished);
  database.exec(`PRAGMA journal_mode = off; PRAGMA synchronous = off;
    CREATE TABLE observations (id INTEGER PRIMARY KEY, title TEXT, publicationState TEXT, json TEXT);
    CREATE VIRTUAL TABLE titles USING fts5(title, content='', tokenize='trigram case_sensitive 1')`);
  const insert = database.prepare('INSERT INTO observations VALUES (?, ?, ?, ?)');
  const insertTitle = database.prepare('INSERT INTO titles (rowid, title) VALUES (?, ?)');
  database.exec('BEGIN');
  for await (const text of observationTexts(directory, baseUrl)) {
    const { ob_id: id, title, publicationState } = JSON.parse(text);
    insert.run(id, title, publicationState, text);
    insertTitle.run(id, title);
  }
  database.exec(`COMMIT; CREATE INDEX byState ON observations (publicationState);
    CREATE INDEX byTitle ON observations (title); ANALYZE`);
  database.close();
  renameSync(unfinished, file);
}

if (!existsSync(file)) await build();
const database = new Database(file, { readonly: true });
database.pragma('cache_size = -1000000');
database.pragma(`mmap_size = ${2 ** 33}`);

/** The statements of one filter: the page, and how many records there are in all. */
function listOf(where) {
  const page = `SELECT json FROM observations WHERE ${where} ORDER BY id LIMIT ? OFFSET ?`;
  const count = `SELECT count(*) FROM observations WHERE ${where}`;
  return { page: database.prepare(page).pluck(), count: database.prepare(count).pluck() };
}

const all = database.prepare('SELECT json FROM observations ORDER BY id LIMIT ? OFFSET ?').pluck();
const allCount = database.prepare('SELECT count(*) FROM observations').pluck().get();
const one = database.prepare('SELECT json FROM observations WHERE id = ?').pluck();
const filters = {
  publicationState: listOf('publicationState = ?'),
  title__contains: listOf('instr(title, ?) > 0'),
};
// The same answer as title__contains, from an index over three characters: taken where `by` says so.
const grams = listOf('id IN (SELECT rowid FROM titles WHERE titles MATCH ?)');

function rowsOf({ by, ...query }, limit, offset) {
  if (by === 'grams') {
    const phrase = `"${query.title__contains.replaceAll('"', '""')}"`;
    return { count: grams.count.get(phrase), texts: grams.page.all(phrase, limit, offset) };
  }
  for (const [name, { page, count }] of Object.entries(filters)) {
    const value = query[name];
    if (value !== undefined) return { count: count.get(value), texts: page.all(value, limit, offset) };
  }
  return { count: allCount, texts: all.all(limit, offset) };
}

/** The link to another page. It omits `by`, which selects an index. */
function linkTo(query, limit, offset) {
  const parameters = new URLSearchParams({ ...query, limit });
  parameters.delete('by');
  if (offset > 0) parameters.set('offset', offset);
  else parameters.delete('offset');
  parameters.sort();
  return `"${baseUrl}${LIST}?${parameters}"`;
}

const app = fastify();
app.get(LIST, (request, reply) => {
  const { query } = request;
  const limit = Number(query.limit ?? LIMIT);
  const offset = Number(query.offset ?? 0);
  const { count, texts } = rowsOf(query, limit, offset);
  const next = offset + limit < count ? linkTo(query, limit, offset + limit) : 'null';
  const previous = offset === 0 ? 'null' : linkTo(query, limit, offset - limit);
  reply.header('Content-Type', 'application/json');
  return reply.send(`{"count":${count},"next":${next},"previous":${previous},"results":[${texts.join(',')}]}`);
});
app.get(`${LIST}:id/`, (request, reply) => {
  const text = one.get(Number(request.params.id));
  reply.header('Content-Type', 'application/json');
  return text === undefined ? reply.code(404).send('{"detail":"Not found."}') : reply.send(text);
});
const address = await app.listen({ host: '127.0.0.1', port: 0 });
// A blank behind the address, which whoever started this waits for.
process.stdout.write(`listening on ${address} \n`);
