// What must be true of validators, whatever the answer: every 200 has a strong entity tag that a client can come back with,
// nothing else has one, and equal tags mean equal bodies. Called by ring.ts for every answer that is compared.
import type { Client, Received } from '../support/client.ts';
import type { OracleRequest } from './oracle.ts';

const STRONG = /^"[!#-~]+"$/;
const OTHER = '"of-no-answer"';

/** The entity tags that were met, each with the body it came with. */
export type TagsMet = Map<string, string>;

/** Lines that say what is wrong with the validators of an answer, asking again under several conditions. */
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
  return wrong;
}
