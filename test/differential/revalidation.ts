// Invariants of validators and codings for all responses: every 200 has a strong entity tag that revalidates, nothing
// else has one, equal tags mean equal bodies, and gzip decompresses to the same bytes.
import { gunzipSync } from 'node:zlib';
import type { Client, Received } from '../support/client.ts';
import type { OracleRequest } from './oracle.ts';

const STRONG = /^"[!#-~]+"$/;
const OTHER = '"of-no-answer"';

/** The entity tags seen so far, each with its body. */
export type TagsMet = Map<string, string>;

/** Repeats a request under several conditions. Returns lines that describe what is wrong with the validators. */
export async function revalidationDifferences(
  client: Client,
  request: OracleRequest,
  received: Received,
  met: TagsMet,
): Promise<string[]> {
  const { etag } = received.headers;
  const isFound = received.status === 200 && request.method !== 'OPTIONS';
  if (!isFound) return etag === undefined ? [] : [`a ${received.status} has the entity tag ${etag}`];
  if (etag === undefined || !STRONG.test(etag)) return [`the entity tag ${etag} is none, or not a strong one`];
  const wrong: string[] = [];
  // A repeated response may be cached, and the next one then comes from the cache.
  for (let i = 2; i <= 5; i++) {
    const again = await client.send(request);
    const isSame = again.status === 200 && again.headers['etag'] === etag && again.bytes.equals(received.bytes);
    if (!isSame) wrong.push(`asked for the ${i}. time it is another answer: ${again.status}`);
  }
  if (request.method === 'GET') {
    const body = met.get(etag) ?? received.body;
    met.set(etag, body);
    if (body !== received.body) wrong.push(`the entity tag ${etag} stands for two bodies`);
  }
  for (const tags of [etag, `${OTHER}, W/${etag}`, '*']) {
    const again = await client.send({ ...request, headers: { ...request.headers, 'if-none-match': tags } });
    const isRight = again.status === 304 && again.body === '' && again.headers['etag'] === etag;
    if (!isRight) wrong.push(`If-None-Match: ${tags} gives ${again.status} with ${again.headers['etag']}`);
  }
  const other = await client.send({ ...request, headers: { ...request.headers, 'if-none-match': OTHER } });
  if (other.status !== 200 || other.body !== received.body) wrong.push(`another tag gives ${other.status}`);
  return [...wrong, ...(await codingDifferences(client, request, received))];
}

/** Repeats the request as a client that accepts gzip, accepts nothing else, or refuses it. */
async function codingDifferences(client: Client, request: OracleRequest, received: Received): Promise<string[]> {
  const wrong: string[] = [];
  for (const codings of ['gzip, br;q=0.5', 'identity;q=0, *', 'gzip;q=0']) {
    const headers = { ...request.headers, 'accept-encoding': codings };
    const { status, bytes, headers: got } = await client.send({ ...request, headers });
    const isGzipped = got['content-encoding'] === 'gzip';
    if (status !== 200) wrong.push(`Accept-Encoding: ${codings} gives ${status}`);
    if (isGzipped === (got['etag'] === received.headers['etag'])) wrong.push(`${codings} gives ${got['etag']}`);
    if (isGzipped && codings === 'gzip;q=0') wrong.push('gzip is sent to who refuses it');
    if (
      isGzipped &&
      codings.startsWith('gzip') &&
      Number(got['content-length']) >= Number(received.headers['content-length'])
    )
      wrong.push(`gzip of ${got['content-length']} bytes is no smaller`);
    if (request.method === 'HEAD') continue;
    const plain = isGzipped ? gunzipSync(bytes) : bytes;
    if (!plain.equals(received.bytes)) wrong.push(`Accept-Encoding: ${codings} gives another body`);
    const again = await client.send({ ...request, headers: { ...headers, 'if-none-match': got['etag'] ?? '' } });
    if (again.status !== 304 || again.headers['etag'] !== got['etag']) wrong.push(`${codings} is not found again`);
    const head = await client.send({ ...request, method: 'HEAD', headers });
    if (head.headers['content-length'] !== String(bytes.length)) wrong.push(`${codings}: HEAD has another length`);
  }
  return wrong;
}
