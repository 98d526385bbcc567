import { afterAll, beforeAll, describe } from 'vitest';
import { openPublishingTarget } from '../../data/distribution/openTarget.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { newFolder } from '../support/distributions.ts';
import { type S3Server, s3Server } from '../support/s3Servers.ts';
import { describeTarget } from '../support/targetSuite.ts';

const directory = temporaryDirectory();

describe('a folder', () => {
  describeTarget(async () => openPublishingTarget(newFolder(directory).url));
});

describe.each([true, false])('a bucket of an S3 server (obeys conditions: %s)', (isMinding) => {
  let server: S3Server;
  beforeAll(async () => {
    server = await s3Server();
    server.isMinding = isMinding;
  });
  afterAll(() => server.close());
  describeTarget(async (name) =>
    openPublishingTarget(`s3://bucket/${name}`, { s3: { ...server.access, isUnconditional: !isMinding } }),
  );
});
