// Puts an object into a bucket: a small one at once, a large one in parts, some of which are under way together. What
// does not become whole is ended, so that nothing of it appears nor is kept.
import { failed } from '../httpExchange.ts';
import { readS3Answer } from './answers.ts';
import type { S3Exchange } from './exchange.ts';

const MIB = 1 << 20;
/** A part has so many bytes, and more only where there would be too many of them. */
const PART_BYTES = 16 * MIB;
/** What servers take. */
const PARTS_MAX = 10_000;
/** So many are sent at once: memory for one more is all that an upload takes. */
const PARTS_AT_ONCE = 3;
/** Servers put the parts together before they answer. */
const COMPLETE_MS = 600_000;

/** What is put where. */
export interface Upload {
  readonly exchange: S3Exchange;
  readonly key: string;
  readonly size: number;
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Parts of so many bytes, in place of those that servers ask for. */
  readonly partBytes?: number;
}

/**
 * Puts an object, whole or not at all. Throws OperationError `network`, and what `pieces` throw. Memory: four parts,
 * 64 MiB up to 160 GB.
 */
export async function upload({ exchange, key, size, pieces, partBytes = PART_BYTES }: Upload): Promise<void> {
  const bytes = size > partBytes * PARTS_MAX ? Math.ceil(size / PARTS_MAX / MIB) * MIB : partBytes;
  const parts = partsOf(pieces, bytes);
  if (size <= bytes) {
    const found: Uint8Array[] = [];
    for await (const part of parts) found.push(part);
    const answer = await exchange.send({ method: 'PUT', key, body: Buffer.concat(found), expected: [200, 204] });
    return answer.discard();
  }
  const begun = await exchange.text({ method: 'POST', key, query: { uploads: '' }, expected: [200] });
  const uploadId = readS3Answer(begun)?.texts['UploadId'];
  if (uploadId === undefined || !/^[\x21-\x7e]{1,1024}$/.test(uploadId))
    throw failed(exchange.urlOf(key), 'began no upload that can be named');
  try {
    const tags = await sentParts(exchange, key, uploadId, parts);
    await complete(exchange, key, uploadId, tags);
  } catch (error) {
    // What cannot be ended now is removed by prune.
    await abortUpload(exchange, key, uploadId).catch(() => undefined);
    throw error;
  }
}

/** Ends an upload that nobody completes, if it is there. Throws OperationError `network`. */
export async function abortUpload(exchange: S3Exchange, key: string, uploadId: string): Promise<void> {
  const answer = await exchange.send({ method: 'DELETE', key, query: { uploadId }, expected: [204, 200, 404] });
  await answer.discard();
}

/** The same bytes in parts of one length, but for the last; there is none of no bytes. */
async function* partsOf(pieces: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  let part = Buffer.allocUnsafe(bytes);
  let filled = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      const taken = piece.subarray(at, at + bytes - filled);
      part.set(taken, filled);
      filled += taken.length;
      at += taken.length;
      if (filled < bytes) continue;
      yield part;
      part = Buffer.allocUnsafe(bytes);
      filled = 0;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
}

/** Sends all parts; answers their tags in order. What is under way ends before this throws. */
async function sentParts(
  exchange: S3Exchange,
  key: string,
  uploadId: string,
  parts: AsyncIterable<Uint8Array>,
): Promise<readonly string[]> {
  const stop = new AbortController();
  const tags: string[] = [];
  const running = new Set<Promise<void>>();
  const send = async (body: Uint8Array, number: number): Promise<void> => {
    const query = { partNumber: String(number), uploadId };
    const answer = await exchange.send({ method: 'PUT', key, query, body, signal: stop.signal, expected: [200] });
    const tag = answer.header('etag');
    await answer.discard();
    if (!/^"?[\w-]{1,128}"?$/.test(tag)) throw failed(exchange.urlOf(key), `gave part ${number} no tag`);
    tags[number - 1] = tag;
  };
  const note = (error: unknown): void => {
    if (!stop.signal.aborted) stop.abort(error);
  };
  try {
    let number = 0;
    for await (const part of parts) {
      const sending: Promise<void> = send(part, ++number)
        .catch(note)
        .finally(() => running.delete(sending));
      running.add(sending);
      if (running.size >= PARTS_AT_ONCE) await Promise.race(running);
      if (stop.signal.aborted) break;
    }
  } catch (error) {
    note(error);
  }
  await Promise.all(running);
  stop.signal.throwIfAborted();
  return tags;
}

async function complete(exchange: S3Exchange, key: string, uploadId: string, tags: readonly string[]): Promise<void> {
  const parts = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
  const body = new TextEncoder().encode(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
  const told = { method: 'POST', key, query: { uploadId }, body, answerMs: COMPLETE_MS } as const;
  const text = await exchange.text({ ...told, expected: [200, 404] });
  // It answers 200 before it knows how it ends; 404 where an earlier attempt was heard and its answer lost.
  const answer = readS3Answer(text);
  if (answer?.root === 'CompleteMultipartUploadResult') return;
  const code = /^[A-Za-z]{1,64}$/.exec(answer?.texts['Code'] ?? '')?.[0] ?? 'nothing that is understood';
  if (code !== 'NoSuchUpload' || !(await isThere(exchange, key)))
    throw failed(exchange.urlOf(key), `put no object together, it answered ${code}: publish again`);
}

async function isThere(exchange: S3Exchange, key: string): Promise<boolean> {
  const answer = await exchange.send({ method: 'HEAD', key, expected: [200, 404] });
  await answer.discard();
  return answer.status === 200;
}
