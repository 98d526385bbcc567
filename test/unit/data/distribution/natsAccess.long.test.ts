// Access to a NATS cluster with credentials from files, which no message repeats: passwords, tokens, keys, permissions
// and TLS.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { afterEach, describe, expect, test } from 'vitest';
import { openPublishingTarget } from '../../../../data/distribution/openTarget.ts';
import { runCommand } from '../../../support/commandProcess.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { hasProgram } from '../../../support/debian.ts';
import { published, releaseOf, servesAtLast, watchingReplicas } from '../../../support/distributions.ts';
import { NATS_SERVER, natsServer, type NatsServer } from '../../../support/natsServers.ts';
import { CA_LINES, opensslIn, USER_LINES } from '../../../support/opensslCertificates.ts';

type Pair = ReturnType<typeof nkeys.createUser>;

/** Configuration lines of a server that admit the users of one account, and the credentials of such a user. */
interface NatsAccount {
  readonly lines: string;
  readonly credentials: string;
}

const UNLIMITED = -1;

function natsAccount(): NatsAccount {
  const operator = nkeys.createOperator();
  const accounts = ['system', 'catalogue'].map((name) => {
    const pair = nkeys.createAccount();
    const storage = name === 'system' ? 0 : UNLIMITED;
    const jetstream = { mem_storage: storage, disk_storage: storage, streams: storage, consumer: storage };
    const most = { subs: UNLIMITED, data: UNLIMITED, payload: UNLIMITED, conn: UNLIMITED };
    const limits = { ...most, imports: UNLIMITED, exports: UNLIMITED, wildcards: true, ...jetstream };
    return { pair, name, claims: signed(operator, pair, name, { type: 'account', limits }) };
  });
  const [system, own] = accounts as [(typeof accounts)[0], (typeof accounts)[0]];
  const preload = accounts.map(({ pair, claims }) => `${pair.getPublicKey()}: ${claims}`);
  const lines = [
    `operator: ${signed(operator, operator, 'operator', { type: 'operator' })}`,
    `system_account: ${system.pair.getPublicKey()}`,
    'resolver: MEMORY',
    `resolver_preload: { ${preload.join(', ')} }`,
  ];
  return { lines: lines.join('\n'), credentials: credentialsOf(own.pair) };
}

/** The content of a user's credentials file: signed claims, and the key that they certify. */
function credentialsOf(account: Pair): string {
  const user = nkeys.createUser();
  const limits = { subs: UNLIMITED, data: UNLIMITED, payload: UNLIMITED };
  const claims = signed(account, user, 'user', { type: 'user', ...limits });
  const seed = new TextDecoder().decode(user.getSeed());
  return [
    `-----BEGIN NATS USER JWT-----\n${claims}\n------END NATS USER JWT------\n`,
    `-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------`,
  ].join('\n');
}

function signed(issuer: Pair, subject: Pair, name: string, nats: object): string {
  const claims = { jti: name, iat: 1, iss: issuer.getPublicKey(), sub: subject.getPublicKey(), name };
  const parts = [
    { typ: 'JWT', alg: 'ed25519-nkey' },
    { ...claims, nats: { ...nats, version: 2 } },
  ];
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`;
}

const directory = temporaryDirectory();
const { signal } = new AbortController();

const { replica, opened } = watchingReplicas(directory);

describe.skipIf(!hasProgram(NATS_SERVER))('a NATS server with access control', () => {
  const running: NatsServer[] = [];
  afterEach(async () => {
    for (const server of running.splice(0)) await server.kill();
  });

  async function guarded(...lines: readonly string[]): Promise<NatsServer> {
    const server = await natsServer(directory, lines);
    await server.start();
    running.push(server);
    return server;
  }

  function fileOf(text: string): string {
    const file = join(mkdtempSync(join(directory, 'credentials-')), 'file');
    writeFileSync(file, `${text}\n`);
    return file;
  }

  const key = nkeys.createUser();
  const seed = new TextDecoder().decode(key.getSeed());
  const account = natsAccount();
  test.each([
    ['a password', 'authorization { user: me, password: hunter2 }', 'me:hunter2', 'me:hunter3'],
    ['a token', 'authorization { token: hunter2 }', 'hunter2', 'hunter3'],
    ['a key', `authorization { users: [ { nkey: ${key.getPublicKey()} } ] }`, seed, 'hunter3'],
    ['the account that signed its claims', account.lines, account.credentials, natsAccount().credentials],
    [
      'claims in lines with CR LF',
      account.lines,
      account.credentials.replaceAll('\n', '\r\n'),
      natsAccount().credentials,
    ],
  ])('grants access by %s, and repeats no secret', async (_, line, right, wrong) => {
    const url = (await guarded(line)).bucket('guarded');
    const release = await releaseOf(directory, 1);
    const publish = async (credentials: readonly string[]): Promise<[number | null, string]> => {
      const command = runCommand(['publish', release.file, '--to', url, ...credentials]);
      const { code } = await command.ended;
      return [code, command.out() + command.err()];
    };
    for (const words of [[], ['--nats-credentials', fileOf(wrong)]]) {
      const [code, told] = await publish(words);
      expect(code).not.toBe(0);
      expect(told).toMatch(new RegExp(`${url}: .*authorization`, 'i'));
      expect(told).not.toMatch(/hunter/);
    }
    const file = fileOf(right);
    const [code, told] = await publish(['--nats-credentials', file]);
    expect([code, told]).toEqual([0, expect.stringContaining('published generation')]);
    for (const secret of right.split(/\r?\n/).filter((text) => text !== '')) expect(told).not.toContain(secret);
    await servesAtLast(await replica(url, ['--nats-credentials', file]), release);
  });

  test('lets a replica with read access only read, and a publisher write', async () => {
    const reads = ['STREAM.INFO.*', 'STREAM.MSG.GET.*', 'DIRECT.GET.>', 'CONSUMER.>'].map((name) => `$JS.API.${name}`);
    const user = (name: string, subjects: readonly string[]): string =>
      `{ user: ${name}, password: p, permissions: { publish: ${JSON.stringify(subjects)}, subscribe: ["_INBOX.>"] } }`;
    const writes = ['$JS.API.>', '$O.guarded.>', '$KV.guarded.>'];
    const server = await guarded(`authorization { users: [ ${user('reader', reads)}, ${user('writer', writes)} ] }`);
    const [url, reader, writer] = [server.bucket('guarded'), fileOf('reader:p'), fileOf('writer:p')];
    const [first, second] = [await releaseOf(directory, 1), await releaseOf(directory, 2)];
    await published(url, first, { target: await opened(url, { nats: { credentials: writer } }) });
    const one = await replica(url, ['--nats-credentials', reader]);
    await servesAtLast(one, first);
    const denied = published(url, second, { target: await opened(url, { nats: { credentials: reader } }) });
    await expect(denied).rejects.toMatchObject({
      code: 'network',
      message: expect.stringMatching(/permission/i) as string,
    });
    await published(url, second, { target: await opened(url, { nats: { credentials: writer } }) });
    await servesAtLast(one, second);
  });

  test.each([
    [
      'that is not valid',
      () => fileOf('two words'),
      /file: want NATS credentials, an nkey seed, user:password or a token$/,
    ],
    ['that is not there', () => join(directory, 'nowhere'), /cannot read .*nowhere: /],
  ])('is not contacted with a file of credentials %s', async (_, file, message) => {
    const access = { nats: { credentials: file() } };
    const told = await openPublishingTarget('nats://127.0.0.1:1/b', access).catch((error: unknown) => error);
    expect(told).toMatchObject({ message: expect.stringMatching(message) as string });
  });

  test.skipIf(!hasProgram('openssl'))('grants access over TLS, with trusted CAs', async () => {
    const issued = opensslIn(mkdtempSync(join(directory, 'tls-')));
    const issuer = issued({ subject: '/CN=A test CA', extensions: CA_LINES });
    const extensions = [...USER_LINES, 'subjectAltName=DNS:localhost'];
    const { certificateFile, keyFile } = issued({ subject: '/CN=localhost', issuer, extensions });
    const server = await guarded(`tls { cert_file: "${certificateFile}", key_file: "${keyFile}" }`);
    const url = `tls://localhost:${server.port}/encrypted`;
    const target = await opened(url, { nats: { ca: issuer.certificateFile } });
    expect(await target.readPointer(undefined, signal)).toBeUndefined();
    await expect((await opened(url)).readPointer(undefined, signal)).rejects.toMatchObject({
      code: 'network',
      message: expect.stringMatching(
        /UNABLE_TO_\w+: .* with --ca \(--nats-ca for NATS\), or .* system's trust store$/,
      ) as string,
    });
    const environment = { SSL_CERT_FILE: issuer.certificateFile };
    const prune = runCommand(['prune', url, '--keep', '1'], { environment });
    await prune.printed(/nothing is published there/);
    const plain = (await guarded()).bucket('plain').replace('nats:', 'tls:');
    await expect((await opened(plain)).readPointer(undefined, signal)).rejects.toThrow(/does not support 'tls'/);
  });
});
