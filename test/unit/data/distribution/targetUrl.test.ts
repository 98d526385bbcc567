import { expect, test } from 'vitest';
import { targetUrlError } from '../../../../data/distribution/targetUrl.ts';

const SECRETS = 'a target has no user, password, query or fragment in its URL';
const FORMS = 'file:///folder, http(s)://host/folder/, nats://host:4222/bucket or s3://bucket/prefix';
const NATS = 'host:4222/bucket, a name of letters, digits, - and _';
const S3 = 's3://bucket/prefix, of letters, digits, ".", "_" and "-"';

test.each([
  ['file:///srv/snapshots', undefined],
  ['file://localhost/srv', undefined],
  ['file://host/srv', 'no target: want file:///folder, with the whole path'],
  ['file:///a%2Fb', 'no target: want file:///folder, with the whole path'],
  ['https://a.example.org/catalogue/', undefined],
  ['https://me:hunter2@a.example.org/', SECRETS],
  ['https://a.example.org/?token=hunter2', SECRETS],
  ['nats://host/bucket', undefined],
  ['nats://host', `no target: want nats://${NATS}`],
  ['tls://host/a.b', `no target: want tls://${NATS}`],
  ['s3://bucket', undefined],
  ['s3://bucket/a/b.c', undefined],
  ['s3://bucket/a b', `no target: want ${S3}`],
  ['s3://b/a', `no target: want ${S3}`],
  ['s3://bucket:80/a', `no target: want ${S3}`],
  ['ftp://a.example.org/', `no target, since it begins with ftp:: want ${FORMS}`],
  ['folder', `no target: want ${FORMS}`],
])('reads the target URL %s: %s', (text, mistake) => {
  expect(targetUrlError(text)).toBe(mistake);
});
