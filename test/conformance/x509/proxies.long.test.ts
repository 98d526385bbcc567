// Proxy certificates (RFC 3820, and the legacy ones of the Globus Toolkit) made by openssl, validated by `authority
// verify-cert`. The rules are those of the design, in its order.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseCertificate } from '../../../server/authority/x509/certificate.ts';
import { readChain } from '../../../server/authority/x509/search.ts';
import { readPem } from '../../../server/authority/x509/pem.ts';
import { commandLine } from '../../../server/commands/commands.ts';
import { temporaryDirectory } from '../../support/dataSets.ts';
import { hasProgram } from '../../support/debian.ts';
import {
  CA_LINES,
  type Issued,
  opensslIn,
  type Order,
  proxyLines,
  USER_LINES,
} from '../../support/opensslCertificates.ts';

const LIMITED = 'language:1.3.6.1.4.1.3536.1.1.1.9';
const ALL_FLAGS = ['--allow-proxies', '--allow-limited-proxies', '--allow-legacy-proxies'];
const USER = '/O=Grid/OU=People/CN=Ada Lovelace';

describe.skipIf(!hasProgram('openssl'))('a proxy made by openssl', () => {
  const directory = temporaryDirectory();
  const issue = opensslIn(directory);
  let ca: Issued;
  let user: Issued;
  beforeAll(() => {
    ca = issue({ subject: '/O=Grid/CN=Grid CA', extensions: CA_LINES, days: 3650 });
    user = issue({ subject: USER, issuer: ca, extensions: USER_LINES });
  });

  /** A proxy of `issuer`, whose name it extends. */
  function proxyOf(issuer: Issued, order: Partial<Order> & { readonly name?: string } = {}): Issued {
    const subject = `${issuer.subject}/CN=${order.name ?? '4711'}`;
    return issue({ subject, issuer, extensions: proxyLines(), days: 1, ...order });
  }

  let files = 0;

  /** The verdict about a chain: the output if it is accepted, or the reason of the rejection. */
  async function judged(
    chain: readonly (Issued | string)[],
    flags: readonly string[] = ALL_FLAGS,
    { trust = ca, daysLater = 0 } = {},
  ): Promise<string> {
    const file = join(directory, `chain${files++}.pem`);
    const text = chain.map((one) => (typeof one === 'string' ? one : one.pem)).join('');
    writeFileSync(file, text);
    const words = ['--trust', trust.certificateFile, '--time', String(startOf(ca) + daysLater * 86_400 + 3600)];
    const printed = { out: '' };
    const output = { write: (piece: string): unknown => (printed.out += piece) };
    try {
      await (
        await commandLine({ stdout: output, stderr: output })
      ).parseAsync(['authority', 'verify-cert', ...words, ...flags, file], { from: 'user' });
    } catch (error) {
      return (error as Error).message;
    }
    return printed.out;
  }

  /** Start of a certificate's validity. All certificates here are made within a minute. */
  function startOf({ pem }: Issued): number {
    const reading = readPem(pem);
    if (reading.kind === 'unreadable') throw new Error(reading.problem);
    return parseCertificate(reading.blocks[0]!.der).notBefore;
  }

  test('is accepted with all rights of its owner, and the output names the user, never the proxy', async () => {
    const verdict = await judged([proxyOf(user), user]);
    expect(verdict).toMatch(/^accepted\n/);
    expect(verdict).toContain(`subject  ${USER}\n`);
    expect(verdict).toContain('proxy    all rights\n');
  });

  test('is refused unless proxies are allowed', async () => {
    const chain = [proxyOf(user), user];
    expect(await judged(chain, [])).toMatch(/is a proxy, which is not accepted\.$/);
    expect(await judged(chain, ['--allow-limited-proxies', '--allow-legacy-proxies'])).toMatch(/is not accepted\.$/);
    expect(await judged(chain, ['--allow-proxies'])).toMatch(/^accepted\n/);
  });

  test('may have proxies below it, in any order of the text after the first certificate', async () => {
    const first = proxyOf(user);
    const second = proxyOf(first, { name: '4712' });
    const third = proxyOf(second, { name: '4713' });
    for (const chain of [
      [third, second, first, user],
      [third, user, first, second, ca],
    ]) {
      expect(await judged(chain)).toContain(`subject  ${USER}\n`);
    }
  });

  test('obeys the path length of each proxy above it', async () => {
    const none = proxyOf(user, { extensions: proxyLines('language:id-ppl-inheritAll,pathlen:0') });
    expect(await judged([none, user])).toMatch(/^accepted/);
    expect(await judged([proxyOf(none), none, user])).toMatch(/allows 0 proxies below it, and there are 1\.$/);
    const one = proxyOf(user, { extensions: proxyLines('language:id-ppl-inheritAll,pathlen:1') });
    const below = proxyOf(one);
    expect(await judged([below, one, user])).toMatch(/^accepted/);
    expect(await judged([proxyOf(below), below, one, user])).toMatch(/allows 1 proxies below it, and there are 2\.$/);
  });

  test.each([
    ['two more common names', `${USER}/CN=a/CN=b`],
    ['another attribute', `${USER}/OU=a`],
    ['two attributes at once', `${USER}/CN=a+OU=b`],
    ['the same name', USER],
    ['the name of someone else', '/O=Grid/OU=People/CN=Charles Babbage/CN=4711'],
    ['its part of the name in front', `/CN=4711${USER}`],
  ])('is refused with %s', async (_, subject) => {
    const proxy = issue({ subject, issuer: user, extensions: proxyLines(), days: 1 });
    expect(await judged([proxy, user])).toMatch(/name is not that of its issuer and one more common name\.$/);
  });

  test('is refused when its proxyCertInfo is not critical', async () => {
    const proxy = proxyOf(user, { extensions: proxyLines('language:id-ppl-inheritAll', '') });
    expect(await judged([proxy, user])).toMatch(/is a proxy whose proxyCertInfo is not critical\.$/);
  });

  test('is refused when it claims to be a CA, and so is one that a CA issued', async () => {
    const extensions = [...proxyLines().slice(0, 1), 'basicConstraints=critical,CA:TRUE'];
    expect(await judged([proxyOf(user, { extensions }), user])).toMatch(/is a proxy that claims to be a CA\.$/);
    expect(await judged([proxyOf(ca), ca])).toMatch(/was issued by a CA, and not by a user\.$/);
    const lower = issue({ subject: '/O=Grid/CN=Lower CA', issuer: ca, extensions: CA_LINES });
    expect(await judged([proxyOf(lower), lower])).toMatch(/is that of a CA, which cannot issue proxies\.$/);
  });

  test.each(['subjectAltName=DNS:host.example.org', 'issuerAltName=DNS:host.example.org'])(
    'is refused with the alternative name %s',
    async (line) => {
      const proxy = proxyOf(user, { extensions: [...proxyLines(), line] });
      expect(await judged([proxy, user])).toMatch(/is a proxy with other names\.$/);
    },
  );

  test('is refused when it, or any certificate above it, has expired', async () => {
    const proxy = proxyOf(user, { days: 1 });
    expect(await judged([proxy, user], ALL_FLAGS, { daysLater: 2 })).toMatch(/4711 expired on .* UTC\.$/);
    const long = proxyOf(user, { days: 100 });
    expect(await judged([long, user], ALL_FLAGS, { daysLater: 50 })).toMatch(/Ada Lovelace expired on .* UTC\.$/);
  });

  test('is refused with an independent policy, and with an unknown one', async () => {
    const independent = proxyOf(user, { extensions: proxyLines('language:id-ppl-independent') });
    expect(await judged([independent, user])).toMatch(/independent proxy, which has no rights of its owner\.$/);
    const unknown = proxyOf(user, { extensions: proxyLines('language:1.2.3.4,policy:text:everything') });
    expect(await judged([unknown, user])).toMatch(/policy in a language that is not known\.$/);
  });

  test('is accepted if it is limited and limited ones are allowed, and the output says limited', async () => {
    const limited = proxyOf(user, { extensions: proxyLines(LIMITED) });
    expect(await judged([limited, user], ['--allow-proxies'])).toMatch(/limited proxy, which is not accepted\.$/);
    expect(await judged([limited, user], ['--allow-limited-proxies'])).toContain('proxy    limited\n');
    expect(await judged([proxyOf(limited), limited, user])).toContain('proxy    limited\n');
  });

  test('is accepted if it is a legacy one and those are allowed, and the output says so', async () => {
    const full = proxyOf(user, { name: 'proxy', extensions: [] });
    const limited = proxyOf(user, { name: 'limited proxy', extensions: [] });
    expect(await judged([full, user], ['--allow-proxies'])).toMatch(/legacy proxy, which is not accepted\.$/);
    expect(await judged([full, user], ['--allow-legacy-proxies'])).toContain('proxy    legacy, all rights\n');
    expect(await judged([limited, user], ['--allow-legacy-proxies'])).toMatch(
      /limited proxy, which is not accepted\.$/,
    );
    expect(await judged([limited, user])).toContain('proxy    legacy, limited\n');
    expect(await judged([proxyOf(full, { name: 'proxy', extensions: [] }), full, user])).toMatch(/^accepted/);
  });

  test('is refused below a proxy of the other kind', async () => {
    const legacy = proxyOf(user, { name: 'proxy', extensions: [] });
    expect(await judged([proxyOf(legacy), legacy, user])).toMatch(/another kind than the one below it\.$/);
  });

  test('is refused if it follows the draft before RFC 3820', async () => {
    const lines = ['1.3.6.1.4.1.3536.1.222=critical,DER:300F300D06082B060105050715010201FF'];
    expect(await judged([proxyOf(user, { extensions: lines }), user])).toMatch(/draft before RFC 3820/);
  });

  test('is refused when a CA of the same name, but with another key, issued its owner', async () => {
    const rogue = issue({ subject: ca.subject, extensions: CA_LINES, days: 3650 });
    const victim = issue({ subject: USER, issuer: rogue, extensions: USER_LINES });
    for (const chain of [
      [proxyOf(victim), victim],
      [proxyOf(victim), victim, rogue],
      [proxyOf(victim), victim, rogue, ca],
    ]) {
      expect(await judged(chain)).toMatch(/was not signed by \/O=Grid\/CN=Grid CA, whom it names as its issuer\.$/);
    }
  });

  test('is refused when another certificate with its owner’s name signed it', async () => {
    const twin = issue({ subject: USER, extensions: USER_LINES });
    expect(await judged([proxyOf(twin), user])).toMatch(/was not signed by \/O=Grid\/OU=People\/CN=Ada Lovelace\.$/);
  });

  test('is refused without its owner', async () => {
    expect(await judged([proxyOf(user)])).toMatch(/^refused: The certificate of .*Ada Lovelace, .* is missing\.$/);
  });

  test('is refused when its owner may not sign', async () => {
    const mute = issue({ subject: USER, issuer: ca, extensions: ['keyUsage=critical,keyEncipherment'] });
    expect(await judged([proxyOf(mute), mute])).toMatch(/may not issue proxies by its key usage\.$/);
  });

  test('is refused with an unknown critical extension', async () => {
    const extensions = [...proxyLines(), '1.2.3.4=critical,DER:0500'];
    expect(await judged([proxyOf(user, { extensions }), user])).toMatch(/cannot be processed \(1\.2\.3\.4\)\.$/);
  });

  test('is refused with a private key in a sent text, and the output does not contain the key', () => {
    const proxy = proxyOf(user);
    for (const text of [proxy.pem + proxy.keyPem + user.pem, proxy.pem + user.pem + proxy.keyPem.split('-----END')[0]!])
      expect(readChain(text)).toEqual({
        kind: 'unreadable',
        reason: 'The text holds a private key, which must never be sent to anyone.',
      });
  });

  test('is checked with a private key in its file, as tools write it, and the output does not contain the key', async () => {
    const proxy = proxyOf(user);
    const told = await judged([proxy, proxy.keyPem, user]);
    expect(told).toMatch(/^accepted$[^]*^proxy +all rights$/m);
    const broken = await judged([proxy, user, proxy.keyPem.split('-----END')[0]!]);
    expect(broken).toMatch(/: The text has a block without an end\.$/);
    for (const text of [told, broken]) expect(text).not.toContain(proxy.keyPem.split('\n')[1]);
  });

  test('is refused with a key or a signature that is too weak', async () => {
    expect(await judged([proxyOf(user, { bits: 1024 }), user])).toMatch(/has a key of a kind that is too weak\.$/);
    const digest = proxyOf(user, { digest: 'sha1' });
    expect(await judged([digest, user])).toMatch(/has a signature of a kind that is too weak\.$/);
    const weak = issue({ subject: USER, issuer: ca, extensions: USER_LINES, digest: 'sha1' });
    expect(await judged([proxyOf(weak), weak])).toMatch(/has a signature of a kind that is too weak\.$/);
  });

  test('is accepted with RSA 2,048 bits, below an intermediate CA, with the configured CA repeated in the text', async () => {
    const lower = issue({ subject: '/O=Grid/CN=Lower CA', issuer: ca, extensions: CA_LINES });
    const owner = issue({ subject: USER, issuer: lower, extensions: USER_LINES, bits: 2048 });
    const proxy = proxyOf(owner, { bits: 2048 });
    expect(await judged([proxy, owner, ca, lower])).toMatch(/^accepted/);
    expect(await judged([proxy, owner])).toMatch(/^refused: No configured CA/);
  });
});
