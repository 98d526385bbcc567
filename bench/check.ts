// Checks a scenario's answers before it is measured, so that a broken fast path cannot win: status, count, every byte.
// Asks with node:http, which shares nothing with the load client. Throws with the target and what differs.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { get } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { Exchange } from './loadClient.ts';
import type { NaiveCatalogue } from './naive.ts';
import { BASE_URL } from './processes.ts';
import type { Question } from './scenarios.ts';

/** A scenario that answers rightly: its exchanges with the lengths to expect, and a hash of all its bodies. */
export interface Checked {
  readonly exchanges: readonly Exchange[];
  readonly hash: string;
}

/** Asks every question twice and compares with the plain rows. Cost: the answers, and a read a record. */
export async function checkQuestions(
  port: number,
  questions: readonly Question[],
  catalogue: NaiveCatalogue,
): Promise<Checked> {
  const hash = createHash('sha256');
  const exchanges: Exchange[] = [];
  for (const question of questions) {
    const { target, status, isGzipped = false } = question;
    const headers = isGzipped ? { 'Accept-Encoding': 'gzip' } : {};
    const answer = await ask(port, target, headers);
    assert.equal(answer.status, status, `the status of ${target}`);
    assert.equal(answer.coding, isGzipped ? 'gzip' : undefined, `the coding of ${target}`);
    checkBody(question, (isGzipped ? gunzipSync(answer.body) : answer.body).toString(), catalogue);
    const again = await ask(port, target, headers);
    assert(again.status === status && again.body.equals(answer.body), `${target} has a second answer`);
    hash.update(answer.body);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const exchange = { target, lines, status, bytes: answer.body.length };
    exchanges.push(question.isRevalidated === true ? await revalidated(port, target, answer) : exchange);
  }
  return { exchanges, hash: hash.digest('hex').slice(0, 16) };
}

/** The exchange of a client that comes back with the entity tag of an answer, once it was seen to get a 304. */
async function revalidated(port: number, target: string, { etag }: Fetched): Promise<Exchange> {
  assert(etag !== undefined, `${target} has no entity tag`);
  const { status, body } = await ask(port, target, { 'If-None-Match': etag });
  assert.deepEqual([status, body.length], [304, 0], `${target} with its own entity tag`);
  return { target, lines: [`If-None-Match: ${etag}`], status, bytes: 0 };
}

function checkBody({ target, version, expected }: Question, body: string, catalogue: NaiveCatalogue): void {
  if (expected.kind === 'text') return assert.equal(body, expected.text, target);
  if (expected.kind === 'record') {
    return assert(body === catalogue.line(expected.row, BASE_URL, version), `${target} is another record`);
  }
  const opening = '"results":[';
  const start = body.indexOf(opening) + opening.length;
  const head = JSON.parse(`${body.slice(0, start)}]}`) as { count: number; next: string | null };
  assert.equal(head.count, expected.count, `the count of ${target}`);
  assert.equal(head.next !== null, expected.hasNext, `the next page of ${target}`);
  const records = expected.rows.map((row) => catalogue.line(row, BASE_URL, version)).join(',');
  assert(body.slice(start) === `${records}]}`, `${target} holds other records than the NDJSON says`);
}

interface Fetched {
  readonly status: number;
  readonly etag: string | undefined;
  readonly coding: string | undefined;
  readonly body: Buffer;
}

function ask(port: number, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Fetched> {
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.once('error', reject);
      response.once('end', () => {
        const { statusCode: status = 0, headers: received } = response;
        const { etag, 'content-encoding': coding } = received;
        resolve({ status, etag, coding, body: Buffer.concat(pieces) });
      });
    });
    request.once('error', reject);
  });
}
