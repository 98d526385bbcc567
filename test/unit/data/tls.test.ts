// Clients of servers with an untrusted certificate: they report the reason and the remedy, and send one request only.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openPublishingTarget, openTarget } from '../../../data/distribution/openTarget.ts';
import type { Target } from '../../../data/distribution/target.ts';
import { crawlingOf } from '../../../server/commands/crawl.ts';
import { readSettings } from '../../../server/settings/declarations.ts';
import {
  AT,
  basicConstraints,
  generalName,
  makeCa,
  makeUser,
  subjectAltNames,
  AUTHORITY,
  FAR,
  serverCertificate,
  tlsInFrontOf,
  type TlsServer,
} from '../../support/certificates.ts';
import { crawled, newOutputIn } from '../../support/crawls.ts';
import { temporaryDirectory } from '../../support/dataSets.ts';
import { plainUpstreams } from '../../support/plainUpstream.ts';

const directory = temporaryDirectory();
const startUpstream = plainUpstreams();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function fileOf(text: string): string {
  const file = join(mkdtempSync(join(directory, 'ca-')), 'ca.pem');
  writeFileSync(file, text);
  return file;
}

async function serverWith(certificate = serverCertificate()): Promise<TlsServer> {
  const server = await tlsInFrontOf((await startUpstream({ collections: { notes: [{ ob_id: 1 }] } })).url, certificate);
  closing.push(server.close);
  return server;
}

function readPointer(target: Target): ReturnType<Target['readPointer']> {
  closing.push(() => target.close());
  return target.readPointer(undefined, new AbortController().signal);
}

const ca = fileOf(AUTHORITY.pem);
const CLIENTS: readonly (readonly [what: string, ask: (origin: string, ca: string | undefined) => Promise<unknown>])[] =
  [
    [
      'a crawl',
      async (origin, file) => {
        const crawling = crawlingOf(origin, readSettings({ ca: file, rate: '1000' }, {}), false);
        return crawled(origin, newOutputIn(directory), crawling);
      },
    ],
    [
      'a replica',
      async (origin, file) => readPointer(await openTarget(`${origin}/folder`, { timeoutMs: 10_000, ca: file })),
    ],
    [
      'a publisher to S3',
      async (origin, file) => {
        const s3 = { endpoint: origin, region: 'us-east-1' };
        return readPointer(await openPublishingTarget('s3://bucket/folder', { s3, ca: file }));
      },
    ],
  ];

const other = makeCa('Another authority', { notAfter: FAR });
const names = { extensions: [subjectAltNames(generalName.dns('localhost'))] };
const REFUSED = [
  [
    'of an unknown authority',
    serverCertificate(),
    undefined,
    /^(?:UNABLE_TO|SELF_SIGNED)_\w+: .* with --ca .* system's trust store/,
  ],
  ['of another authority', serverCertificate(), fileOf(other.pem), /^UNABLE_TO_\w+: .* with --ca/],
  ['that is self-signed', makeCa('localhost', { ...names, notAfter: FAR }), undefined, /^DEPTH_ZERO_SELF.* with --ca/],
  ['that has expired', serverCertificate({ notAfter: AT }), ca, /^CERT_HAS_EXPIRED: .* must be renewed/],
  ['of the future', serverCertificate({ notBefore: FAR - 1 }), ca, /^CERT_NOT_YET_VALID: .*clock of this machine/],
  ['for another name', serverCertificate({}, 'a.example.org'), ca, /^ERR_TLS_CERT.* DNS:a\.example\.org: use a name/],
  [
    'below what is no authority',
    makeUser('localhost', serverCertificate({ extensions: [basicConstraints(false)] }), { ...names, notAfter: FAR }),
    ca,
    /^\w+: its certificate is not from a trusted authority/,
  ],
] as const;

test.each(CLIENTS.flatMap(([what, ask]) => REFUSED.map(([of, ...rest]) => [what, of, ask, ...rest] as const)))(
  'makes %s refuse a certificate %s at once and name the remedy',
  async (_what, _of, ask, certificate, file, message) => {
    const server = await serverWith(certificate);
    const failure = (await ask(server.origin, file).catch((error: unknown) => error)) as Error;
    expect(failure).toMatchObject({ code: 'network' });
    expect(failure.message.replace(/^.*?https:\S+: /, '')).toMatch(message);
    expect(server.connections()).toBe(1);
  },
);

test.each(CLIENTS)('makes %s trust the CAs of a file', async (_what, ask) => {
  const server = await serverWith();
  await ask(server.origin, ca);
  expect(server.connections()).toBeGreaterThan(0);
});

test.each(CLIENTS)('makes %s refuse a CA file without certificates', async (_what, ask) => {
  const message = expect.stringMatching(/ca\.pem: want certificates of authorities, in PEM$/) as string;
  await expect(ask('https://localhost:1', fileOf('none'))).rejects.toMatchObject({ code: 'input', message });
  const missing = ask('https://localhost:1', join(directory, 'nowhere'));
  await expect(missing).rejects.toMatchObject({ code: 'file' });
});
