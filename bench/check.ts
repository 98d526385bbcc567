// Checks a scenario's answers before it is measured, so that a broken fast path cannot win: status, count, every byte.
// Asks with node:http, which shares nothing with the load client. Throws with the target and what differs.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { get } from 'node:http';
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
    const { target, status } = question;
    const answer = await ask(port, target);
    assert.equal(answer.status, status, `the status of ${target}`);
    checkBody(question, answer.body.toString(), catalogue);
    const again = await ask(port, target);
    assert(again.status === status && again.body.equals(answer.body), `${target} has a second answer`);
    hash.update(answer.body);
    exchanges.push({ target, status, bytes: answer.body.length });
  }
  return { exchanges, hash: hash.digest('hex').slice(0, 16) };
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
  readonly body: Buffer;
}

function ask(port: number, path: string): Promise<Fetched> {
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(pieces) }));
    });
    request.once('error', reject);
  });
}
