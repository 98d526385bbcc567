// Checks the responses of a scenario before it is measured, so that a broken fast path cannot win: status, count, every
// byte. Uses node:http, which shares no code with the load client. Throws with the target and the difference.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { request as requestOf } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { Exchange } from '../client/loadClient.ts';
import type { NaiveCatalogue, NaiveRow } from './naive.ts';
import { BENCH_BASE_URL } from '../processes/processes.ts';
import type { Expectation, ExpectedPage, Headers, ScenarioQuestion } from './scenario.ts';

/** A scenario with correct responses: its exchanges with the expected lengths, and a hash of all bodies. */
export interface RightAnswers {
  readonly exchanges: readonly Exchange[];
  readonly hash: string;
}

/** Sends every question twice and compares with the plain rows. Cost: the responses, and a read for each record. */
export async function checkQuestions(
  port: number,
  questions: readonly ScenarioQuestion[],
  catalogue: NaiveCatalogue,
): Promise<RightAnswers> {
  const hash = createHash('sha256');
  const exchanges: Exchange[] = [];
  for (const question of questions) {
    const { target, status, isGzipped = false } = question;
    const headers: Headers = { ...question.headers, ...(isGzipped && { 'Accept-Encoding': 'gzip' }) };
    const answer = await ask(port, target, headers);
    assert.equal(answer.status, status, `the status of ${target}`);
    assert.equal(answer.encoding, isGzipped ? 'gzip' : 'identity', `the encoding of ${target}`);
    checkBody(question, (isGzipped ? gunzipSync(answer.body) : answer.body).toString(), catalogue);
    const again = await ask(port, target, headers);
    const isTimed = question.expected.kind === 'table';
    const lasting = ({ body }: FetchedAnswer): Buffer =>
      isTimed ? Buffer.from(body.toString().replace(TIME, '')) : body;
    assert(again.status === status && lasting(again).equals(lasting(answer)), `${target} has a second answer`);
    hash.update(lasting(answer));
    const exchange = {
      target,
      headers,
      status,
      bytes: answer.body.length,
      ...(isTimed && { bytesSlack: TIME_BYTES_MOST }),
    };
    exchanges.push(question.isRevalidated === true ? await revalidated(port, target, answer) : exchange);
  }
  return { exchanges, hash: hash.digest('hex').slice(0, 16) };
}

/** The exchange of a client that sends the entity tag of a response, after a check that it gets a 304. */
async function revalidated(port: number, target: string, { etag }: FetchedAnswer): Promise<Exchange> {
  assert(etag !== undefined, `${target} has no entity tag`);
  const headers = { 'If-None-Match': etag };
  const { status, body } = await ask(port, target, headers);
  assert.deepEqual([status, body.length], [304, 0], `${target} with its own entity tag`);
  return { target, headers, status, bytes: 0 };
}

function checkBody(question: ScenarioQuestion, body: string, catalogue: NaiveCatalogue): void {
  const { target, version, baseUrl = BENCH_BASE_URL, expected } = question;
  const lineOf = (row: NaiveRow): string => catalogue.line(row, baseUrl, version);
  switch (expected.kind) {
    case 'text':
      return assert.equal(body, expected.text, target);
    case 'record':
      return assert(body === lineOf(expected.row), `${target} is another record`);
    case 'lines':
      return assert(body === expected.rows.map((row) => `${lineOf(row)}\n`).join(''), `${target} holds other lines`);
    case 'page':
      return checkPage(target, expected, body, (row) => expandLine(lineOf(row), expected, catalogue));
    case 'table':
      return checkTable(target, expected, body);
  }
}

const ROW = /<th scope="row"[^>]*><a href="[^"]*\/(\d+)\/">/g;

function checkTable(target: string, expected: Expectation & { kind: 'table' }, body: string): void {
  const ids = [...body.matchAll(ROW)].map(([, id]) => Number(id));
  assert.deepEqual(
    ids,
    expected.rows.map(({ id }) => id),
    `the rows of ${target}`,
  );
  const [count, all] = [expected.count, expected.all].map((number) => number.toLocaleString('en'));
  assert(body.includes(`<strong>${count} of ${all}</strong>`), `the count of ${target}`);
}

/** HTML pages contain the time of their search, which differs each time. */
const TIME = /in [\d.,]+ m?s</;
const TIME_BYTES_MOST = 8;

const OPENING = '"results":[';

function checkPage(target: string, expected: ExpectedPage, body: string, lineOf: (row: NaiveRow) => string): void {
  const start = body.indexOf(OPENING) + OPENING.length;
  const head = JSON.parse(`${body.slice(0, start)}]}`) as { count: number; next: string | null };
  assert.equal(head.count, expected.count, `the count of ${target}`);
  assert.equal(head.next !== null, expected.hasNext, `the next page of ${target}`);
  const { rows, keys, facets } = expected;
  if (keys) {
    const { results } = JSON.parse(body) as { results: unknown };
    const cut = rows.map((row) => cutTo(keys, JSON.parse(lineOf(row)) as Readonly<Record<string, unknown>>));
    return assert.deepEqual(results, cut, `the members of ${target}`);
  }
  const records = `${rows.map(lineOf).join(',')}]`;
  assert(body.startsWith(records, start), `${target} holds other records than the NDJSON says`);
  const rest = JSON.parse(`{${body.slice(start + records.length).replace(/^,/, '')}`) as { facets?: unknown };
  assert.deepEqual(rest.facets, facets, `the facets of ${target}`);
}

/** The line of a row with its links in `expanded` replaced by the records, which have no own URLs. */
function expandLine(line: string, { expanded = {} }: ExpectedPage, { linked }: NaiveCatalogue): string {
  let text = line;
  for (const [name, collection] of Object.entries(expanded)) {
    text = text.replace(
      new RegExp(`("${name}":)"[^"]*/(\\d+)/[^"/]*"`),
      (link, key: string, id: string) => key + (linked[collection].get(Number(id)) ?? link.slice(key.length)),
    );
  }
  return text;
}

function cutTo(keys: readonly string[], record: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(keys.map((key) => [key, record[key]]));
}

/** Whether two servers respond to every question with the same status and bytes. */
export async function answersAlike(
  port: number,
  otherPort: number,
  questions: readonly ScenarioQuestion[],
): Promise<boolean> {
  for (const { target, headers = {} } of questions) {
    const [one, other] = [await ask(port, target, headers), await ask(otherPort, target, headers)];
    if (one.status !== other.status || !one.body.equals(other.body)) return false;
  }
  return true;
}

/** A response as received. */
export interface FetchedAnswer {
  readonly status: number;
  readonly encoding: string;
  readonly etag: string | undefined;
  readonly body: Buffer;
}

/** Sends one request on a new connection: POST if there is a body. */
export function ask(port: number, path: string, headers: Headers = {}, body?: string): Promise<FetchedAnswer> {
  const method = body === undefined ? 'GET' : 'POST';
  return new Promise((resolve, reject) => {
    const request = requestOf({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.once('error', reject);
      response.once('end', () => {
        const { statusCode: status = 0, headers: received } = response;
        const { etag, 'content-encoding': encoding = 'identity' } = received;
        resolve({ status, encoding, etag, body: Buffer.concat(pieces) });
      });
    });
    request.once('error', reject);
    request.end(body);
  });
}
