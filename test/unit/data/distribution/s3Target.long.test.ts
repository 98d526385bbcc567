// A bucket of a good or bad S3 server: the requests to it, the handling of its responses, and the reports.
// s3Kills.long.test.ts kills publishers.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pruneTarget } from '../../../../data/distribution/prune.ts';
import { S3Exchange } from '../../../../data/distribution/s3Exchange.ts';
import { s3Target, upload } from '../../../../data/distribution/s3Target.ts';
import { openPublishingTarget } from '../../../../data/distribution/openTarget.ts';
import type { PublishingTarget } from '../../../../data/distribution/target.ts';
import { runCommand } from '../../../support/commandProcess.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { published, type Release, releaseOf, startFollower } from '../../../support/distributions.ts';
import { S3_KEYS, type S3Server, s3Server, sendXml } from '../../../support/s3Servers.ts';
import { cutInto, wholeIn } from '../../../support/targetSuite.ts';
import { randomBytes } from '../../../support/random.ts';

const directory = temporaryDirectory();
const { signal } = new AbortController();
const DAY = 86_400_000;
const POINTER = 'folder/current.json';

let old: Release;
let next: Release;
let server: S3Server;
let target: PublishingTarget;
beforeAll(async () => {
  [old, next] = [await releaseOf(directory, 1), await releaseOf(directory, 2)];
});
beforeEach(async () => {
  server = await s3Server();
  target = s3Target(new URL('s3://bucket/folder'), 10_000, server.access);
});
afterEach(async () => {
  await target.close();
  server.close();
});

const told = (message: RegExp, code = 'network'): Error =>
  expect.objectContaining({ code, message: expect.stringMatching(message) as string }) as Error;

/** Sends another response to the first requests that match. */
function spoil(
  count: number,
  pattern: RegExp,
  how: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  let left = count;
  server.misbehave = (request, response) => {
    if (!pattern.test(`${request.method} ${request.url}`) || left-- <= 0) return false;
    how(request, response);
    return true;
  };
}

const error =
  (status: number, code: string, more = '') =>
  (request: IncomingMessage, response: ServerResponse): void => {
    request.resume();
    const xml = `<Error><Code>${code}</Code><Message>${S3_KEYS.id} ${S3_KEYS.secret}</Message>${more}</Error>`;
    sendXml(response, status, xml);
  };

describe('two concurrent publishers to S3', () => {
  test('do not overwrite each other: each has its turn, and the newer data is current at the end', async () => {
    for (let round = 0; round < 3; round++) {
      server.objects.clear();
      const ends = await Promise.allSettled([published(target, old), published(target, next)]);
      expect(ends[1].status).toBe('fulfilled');
      const pointer = (await wholeIn(target, directory))!;
      expect(pointer.generation).toBe(next.generation);
      expect(pointer.sequence).toBe(ends.filter(({ status }) => status === 'fulfilled').length);
    }
  });

  test('are refused with the remedy if the server ignores conditions', async () => {
    server.isMinding = false;
    await expect(published(target, old)).rejects.toThrow(told(/ignores If-Match.*--s3-unconditional$/, 'refused'));
    expect([...server.objects.keys()].filter((key) => !key.endsWith('.snapshot'))).toEqual([]);
  });

  test('recognise their own pointer if the response to it was lost', async () => {
    await published(target, old);
    spoil(1, /^PUT \/bucket\/folder\/current/, (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        server.objects.set(POINTER, Buffer.concat(pieces));
        response.destroy();
      });
    });
    expect(await published(target, next)).toMatchObject({ isNew: true, pointer: { sequence: 2 } });
  });
});

describe('a large object', () => {
  const body = randomBytes(1_000_001);
  const key = `folder/${'a'.repeat(64)}.snapshot`;
  const large = async (pieces: AsyncIterable<Uint8Array>): Promise<void> => {
    const exchange = new S3Exchange('bucket', server.access, 10_000);
    try {
      await upload({ exchange, key, size: body.length, pieces, partBytes: 100_000 });
    } finally {
      await exchange.close();
    }
  };

  test('is sent in parts, at most three at once, each with retries', async () => {
    let [running, most, broken] = [0, 0, 0];
    server.misbehave = async ({ method, url }, response) => {
      if (method !== 'PUT') return false;
      most = Math.max(most, ++running);
      response.on('close', () => running--);
      // The connection of the fourth part breaks once.
      if (!url!.includes('partNumber=4&') || broken++ > 0) return false;
      response.destroy();
      return true;
    };
    await large(cutInto(body, 70_000));
    expect(server.objects.get(key)!.equals(body)).toBe(true);
    expect(most).toBeLessThanOrEqual(3);
    expect([server.uploads.size, broken]).toEqual([0, 2]);
  });

  test.each([
    ['its bytes cannot be read', /never/, /gone/],
    ['a part is refused', /partNumber=5&/, /answered 403 AccessDenied/],
    ['the parts are not put together', /^POST .*uploadId/, /answered 403 AccessDenied/],
  ])('does not exist, and its upload is aborted, if %s', async (_, pattern, message) => {
    spoil(9, pattern, error(403, 'AccessDenied'));
    const pieces = (async function* () {
      yield body.subarray(0, 500_000);
      if (String(pattern) === '/never/') throw new Error('gone');
      yield body.subarray(500_000);
    })();
    await expect(large(pieces)).rejects.toThrow(message);
    expect([server.objects.size, server.uploads.size]).toEqual([0, 0]);
  });

  test('is whole if the server fails once while it joins the parts, after it has sent 200', async () => {
    spoil(1, /^POST .*uploadId/, error(200, 'InternalError'));
    await large(cutInto(body, 70_000));
    expect(server.objects.get(key)!.equals(body)).toBe(true);
    expect(server.asked.filter((one) => /^POST .*uploadId/.test(one)).length).toBe(2);
  });

  test('is removed by prune after a day if its upload was not finished', async () => {
    await published(target, old);
    for (const id of ['one', 'two', 'three']) server.uploads.set(id, { key, parts: new Map() });
    server.uploads.set('other', { key: 'elsewhere', parts: new Map() });
    const modified = Date.parse('2026-01-31T12:00:00Z');
    expect(await pruneTarget(target, 1, modified + DAY / 2)).toMatchObject({ removed: 0, kept: 4 });
    expect(await pruneTarget(target, 1, modified + 2 * DAY)).toMatchObject({ removed: 3, kept: 1 });
    expect([...server.uploads.keys()]).toEqual(['other']);
  });
});

describe('a failed S3 response', () => {
  test.each([
    ['keys that are not known', 403, 'InvalidAccessKeyId', '', /403 InvalidAccessKeyId: .* AWS_ACCESS_KEY_ID$/],
    ['a wrong secret', 403, 'SignatureDoesNotMatch', '', /AWS_SECRET_ACCESS_KEY is not that of AWS_ACCESS_KEY_ID/],
    ['rights that are missing', 403, 'AccessDenied', '', /allow s3:GetObject/],
    ['an expired token', 400, 'ExpiredToken', '', /AWS_SESSION_TOKEN has expired/],
    ['no bucket', 404, 'NoSuchBucket', '', /make the bucket first/],
    ['a clock that is wrong', 403, 'RequestTimeTooSkewed', '', /the clocks differ, that of the server says \w{3}, \d/],
    ['another region', 301, 'PermanentRedirect', '<Region>eu-west-2</Region>', /want --s3-region eu-west-2$/],
    ['a redirection', 307, 'TemporaryRedirect', '<Region>" x</Region>', /elsewhere, and nothing is followed$/],
    ['an unknown status', 418, '<b>1</b>', '', /answered 418$/],
  ])('because of %s is reported with the remedy, and without secrets', async (_, status, code, more, message) => {
    spoil(9, /./, error(status, code, more));
    const failure = await target.readPointer(undefined, signal).catch((thrown: unknown) => thrown);
    expect(failure).toEqual(told(message));
    expect(String(failure)).not.toMatch(/hunter/i);
    expect(server.asked.length).toBe(1);
  });

  test('because of too many requests is followed by the wait that it asks for', async () => {
    spoil(2, /./, (_request, response) => void response.writeHead(503, { 'retry-after': '1' }).end());
    expect(await target.readPointer(undefined, signal)).toBeUndefined();
    expect(server.asked.length).toBe(3);
  });

  test('is not retried before the date in its Retry-After', async () => {
    const dates = { date: 'Sun, 01 Feb 2026 00:00:00 GMT', 'retry-after': 'Sun, 01 Feb 2026 00:00:15 GMT' };
    spoil(1, /./, (_request, response) => void response.writeHead(503, dates).end());
    const hasty = s3Target(new URL('s3://bucket/folder'), 3000, server.access);
    await expect(hasty.readPointer(undefined, signal)).rejects.toThrow(told(/current\.json: /));
    expect(server.asked.length).toBe(1);
    await hasty.close();
  });

  test('because the server speaks no TLS is reported with the remedy and not retried', async () => {
    const endpoint = server.origin.replace('http:', 'https:');
    const encrypted = s3Target(new URL('s3://bucket/folder'), 10_000, { ...server.access, endpoint });
    await expect(encrypted.readPointer(undefined, signal)).rejects.toThrow(
      told(/current\.json: answers without TLS: is it http:\/\/\?$/),
    );
    expect(server.connections()).toBe(1);
    await encrypted.close();
  });

  test.each([
    ['silence', () => undefined],
    ['a byte at a time', (response: ServerResponse) => drip(response)],
    [
      'half of it',
      (response: ServerResponse) =>
        response.writeHead(200, { 'content-length': 9 }).write('{', () => response.destroy()),
    ],
    ['more than a pointer has', (response: ServerResponse) => response.writeHead(200).end('x'.repeat(70_000))],
  ])('ends in time: %s', async (_, answer) => {
    server.misbehave = (_request, response) => (answer(response), true);
    const hasty = s3Target(new URL('s3://bucket/folder'), 300, server.access);
    await expect(hasty.readPointer(undefined, signal)).rejects.toThrow(told(/current\.json: /));
    await hasty.close();
  });

  test('to an upload that the server does not read ends in time', async () => {
    server.misbehave = ({ method }) => method === 'PUT';
    const exchange = new S3Exchange('bucket', server.access, 100);
    const body = randomBytes(16 << 20);
    const sent = upload({ exchange, key: 'a', size: body.length, pieces: cutInto(body, body.length) });
    await expect(sent).rejects.toThrow(told(/\/bucket\/a: takes what it is sent too slowly, or not at all$/));
    await exchange.close();
  });

  test('in place of a list is refused, and so is a list without an end', async () => {
    spoil(1, /list-type/, (_request, response) => sendXml(response, 200, '<!DOCTYPE a><ListBucketResult/>'));
    await expect(target.list()).rejects.toThrow(told(/answered no ListBucketResult$/));
    const again = '<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>';
    spoil(9, /list-type/, (_request, response) =>
      sendXml(response, 200, `<ListBucketResult>${again}</ListBucketResult>`),
    );
    await expect(target.list()).rejects.toThrow(told(/its ListBucketResult does not end$/));
  });
});

describe('an object about which the S3 server reports wrong data', () => {
  /** Fetches a published snapshot, although the server reports a length that is too large or another range. */
  async function fetched(moreBytes: number, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
    await published(target, old);
    server.misbehave = ({ method, url }, response) => {
      if (method !== 'GET' || !url!.endsWith('.snapshot')) return false;
      const bytes = server.objects.get(url!.replace('/bucket/', ''))!;
      const status = 'content-range' in headers ? 206 : 200;
      response.writeHead(status, { 'content-length': bytes.length + moreBytes, ...headers });
      response.write(bytes, () => response.destroy());
      return true;
    };
    return wholeIn(target, directory);
  }

  test('is not accepted if it is another range than the requested one', async () => {
    await expect(fetched(0, { 'content-range': 'bytes 9-' })).rejects.toThrow(told(/another part$/));
    expect(server.asked.length).toBeLessThan(20);
  });

  test('is whole if its Content-Length is too large', async () => {
    expect(await fetched(100)).toMatchObject({ generation: old.generation });
  });

  test('costs a publisher at most another upload if its length is wrong in the response to a check', async () => {
    await published(target, old);
    server.misbehave = ({ method, url }, response) => {
      if (method !== 'HEAD' || !url!.endsWith('.snapshot')) return false;
      response.writeHead(200, { 'content-length': 1 }).end();
      return true;
    };
    await published(target, next);
    expect(server.asked.length).toBeLessThan(30);
    server.misbehave = () => false;
    expect(await wholeIn(target, directory)).toMatchObject({ generation: next.generation });
  });
});

test('reports half of the S3 keys before any request', async () => {
  const s3 = { ...server.access, keys: { id: 'a', secret: '', token: '' } };
  await expect(openPublishingTarget('s3://bucket/', { s3 })).rejects.toThrow(told(/want both of AWS_/, 'usage'));
});

test.each(['http://127.0.0.1:9', 'http://[::1]:9'])(
  'refuses to put the bucket before the address in %s',
  async (endpoint) => {
    const s3 = { endpoint, region: 'us-east-1', addressing: 'host' } as const;
    const refused = openPublishingTarget('s3://bucket/', { s3 });
    await expect(refused).rejects.toThrow(told(/needs a host name.*use --s3-addressing path$/, 'usage'));
  },
);

describe('the commands with S3', () => {
  const environment = { AWS_ACCESS_KEY_ID: S3_KEYS.id, AWS_SECRET_ACCESS_KEY: S3_KEYS.secret };
  const words = (...of: readonly string[]): readonly string[] => [...of, '--s3-endpoint', server.origin];

  test.each(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'])(
    'accept %s with blanks around it, and refuse others in it without repeating it',
    async (name) => {
      const run = async (value: string): Promise<[number | null, string]> => {
        const set = { environment: { ...environment, [name]: value } };
        const command = runCommand(words('prune', 's3://bucket/folder', '--keep', '1'), set);
        const { code } = await command.ended;
        return [code, command.out() + command.err()];
      };
      const wanted = 'want printable ASCII without blanks';
      expect(await run('hunter2\nhunter2')).toEqual([
        2,
        `catalogue-replica: environment variable ${name}: ${wanted}\n`,
      ]);
      const nothing = expect.stringContaining('nothing is published there') as string;
      expect(await run(' hunter2\n')).toEqual([1, nothing]);
    },
  );

  test('publish to a bucket, serve from it and prune it, and repeat no secret', async () => {
    const publish = runCommand(words('publish', old.file, '--to', 's3://bucket/folder'), { environment });
    expect((await publish.ended).code).toBe(0);
    const serving = await startFollower('s3://bucket/folder', `${directory}/cache-of-serving`, words(), {
      environment,
    });
    await serving.printed(new RegExp(`generation ${old.generation.slice(0, 12)}`));
    await published(target, next);
    await serving.printed(new RegExp(`generation ${next.generation.slice(0, 12)} is served now`));
    await serving.kill();
    const prune = runCommand(words('prune', 's3://bucket/folder', '--keep', '1'), { environment });
    await prune.printed(/removed 1 objects/);
    const down = runCommand(['publish', old.file, '--to', 's3://bucket/f', '--s3-endpoint', 'http://127.0.0.1:1'], {
      environment,
    });
    await down.printed(/http:\/\/127\.0\.0\.1:1\/bucket\/f\/current\.json: ECONNREFUSED/);
    for (const one of [publish, serving, prune, down]) expect(one.out() + one.err()).not.toMatch(/hunter/i);
  });
});

function drip(response: ServerResponse): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
}
