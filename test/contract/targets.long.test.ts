// The contract of targets, over Debian's OpenStack Swift by its S3 interface and over Debian's nats-server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { S3Exchange } from '../../data/distribution/s3Exchange.ts';
import { upload } from '../../data/distribution/s3Target.ts';
import { openPublishingTarget } from '../../data/distribution/openTarget.ts';
import type { PublishingTarget, S3Access } from '../../data/distribution/target.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { hasProgram } from '../support/debian.ts';
import { published, releaseOf } from '../support/distributions.ts';
import { NATS_SERVER, natsServer, type NatsServer } from '../support/natsServers.ts';
import { SWIFT_SERVERS, type SwiftServer, swiftServer } from '../support/swiftServer.ts';
import { cutInto, describeTarget } from '../support/targetSuite.ts';
import { randomBytes } from '../support/random.ts';

const directory = temporaryDirectory();
const { signal } = new AbortController();

describe.skipIf(!SWIFT_SERVERS.every((name) => hasProgram(name)))('a bucket of Swift', () => {
  let server: SwiftServer;
  beforeAll(async () => {
    server = await swiftServer(directory);
  });
  afterAll(async () => server.kill());
  describeTarget(async (name) =>
    openPublishingTarget(`s3://${server.bucket}/${name}`, { s3: { ...server.access, isUnconditional: true } }),
  );

  test('puts a large object together, lists an upload until it is ended, and refuses who signs otherwise', async () => {
    const exchange = new S3Exchange(server.bucket, server.access, 30_000);
    const body = randomBytes(2_000_001);
    const [key, left] = ['a', 'b'].map((letter) => `parts/${letter.repeat(64)}.snapshot`) as [string, string];
    await upload({ exchange, key, size: body.length, pieces: cutInto(body, 70_000), partBytes: 500_000 });
    await exchange.text({ method: 'POST', key: left, query: { uploads: '' }, expected: [200] });
    await exchange.close();
    const open = async (s3: S3Access): Promise<PublishingTarget> =>
      openPublishingTarget(`s3://${server.bucket}/parts`, { s3 });
    const target = await open(server.access);
    const found = await target.read(`${'a'.repeat(64)}.snapshot`, 1_234_567, signal);
    const pieces: Uint8Array[] = [];
    for await (const piece of found!.pieces) pieces.push(piece);
    expect(Buffer.concat(pieces).equals(body.subarray(found!.offset))).toBe(true);
    const [whole, unfinished] = (await target.list()).map(({ name }) => name);
    expect([whole, unfinished]).toEqual([`${'a'.repeat(64)}.snapshot`, expect.stringMatching(`^upload ${left} `)]);
    await target.remove(unfinished!);
    expect((await target.list()).length).toBe(1);
    const keys = { id: 'me:tester', secret: 'hunter3', token: '' };
    const stranger = await open({ ...server.access, keys });
    await expect(stranger.readPointer(undefined, signal)).rejects.toThrow(/403 SignatureDoesNotMatch: AWS_SECRET/);
    const elsewhere = await open({ ...server.access, region: 'eu-west-2' });
    await expect(elsewhere.readPointer(undefined, signal)).rejects.toThrow(/want --s3-region us-east-1$/);
    const careful = await open(server.access);
    const release = await releaseOf(directory, 1);
    await expect(published(careful, release)).rejects.toThrow(/ignores If-Match.*--s3-unconditional$/);
    for (const one of [target, stranger, elsewhere, careful]) await one.close();
  });
});

describe.skipIf(!hasProgram(NATS_SERVER))('a bucket of NATS', () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await natsServer(directory);
    await server.start();
  });
  afterAll(async () => server.kill());
  describeTarget(async (name) => openPublishingTarget(server.bucket(name)));
});
