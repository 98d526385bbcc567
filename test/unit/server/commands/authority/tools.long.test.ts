// The commands for configurations and certificates, run as an operator runs them: their output and their exit.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  DEMONSTRATION_FILES,
  demonstrationDirectory,
  prepareDemonstration,
  writeDemonstration,
} from '../../../../../server/authority/demonstration.ts';
import { makeSigner } from '../../../../../server/authority/attributeCertificate/write.ts';
import { nameDer } from '../../../../../server/authority/issuance.ts';
import { epochMs } from '../../../../../server/observe/clock.ts';
import { CommanderError } from 'commander';
import { OperationError } from '../../../../../data/operationError.ts';
import { issueFiles } from '../../../../../server/commands/authority/tools.ts';
import { commandLine } from '../../../../../server/commands/commands.ts';
import { runCommand } from '../../../../support/commandProcess.ts';
import { templateOf, xmlsecSigned } from '../../../../support/attributeCertificates.ts';
import { hasProgram } from '../../../../support/debian.ts';
import { AT, caOf, ecPair, type Holder, holderOf, person, rsaPair } from '../../../../support/pki.ts';

let directory: string;
const NOW = Math.floor(epochMs() / 1000);
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'authority-commands-'));
  writeDemonstration(directory, NOW);
});
afterAll(() => rmSync(directory, { recursive: true }));

const file = (name: string): string => join(directory, name);

const CA = caOf('CA');
const signer = (name: string): Holder => holderOf('signer', nameDer(person(name)), ecPair(), CA);
const SIGNERS = { Authority: signer('Authority'), Ada: signer('Ada') };
const instant = (at: number): string => new Date(at * 1000).toISOString().replace('.000', '');
const ADMIN = {
  holder: '/O=Test/CN=Ada',
  issuer: '/CN=Authority/O=Test',
  issuerName: 'Here',
  notBefore: AT,
  notAfter: AT + 60,
  roles: ['admin', 'staff'],
  provenance: 'original',
} as const;

/** Runs `authority` with these arguments in this process. `end` is the error, '' if there is none. */
async function authority(
  ...words: readonly string[]
): Promise<{ readonly end: string; readonly out: string; readonly err: string }> {
  const texts = { out: '', err: '' };
  const output = (name: 'out' | 'err') => ({ write: (text: string) => (texts[name] += text) });
  try {
    await (
      await commandLine({ stdout: output('out'), stderr: output('err') })
    ).parseAsync(['node', 'cli', 'authority', ...words]);
    return { end: '', ...texts };
  } catch (error) {
    if (error instanceof CommanderError) return { end: 'usage', ...texts };
    if (!(error instanceof OperationError)) throw error;
    return { end: error.code, out: texts.out, err: error.message.replaceAll(`${directory}/`, '') };
  }
}

test('reports by check that a configuration is good and its content', async () => {
  const { end, out } = await authority('check', file(DEMONSTRATION_FILES.config));
  expect([end, out]).toEqual([
    '',
    expect.stringMatching(
      /^site +Demonstration\n[^]*^trusted hosts +Demonstration Partner, Demonstration Archive\n[^]*is good\n$/m,
    ),
  ]);
});

test('reports by check every error with its file and line, and exits with 1', async () => {
  const wrong = readFileSync(file(DEMONSTRATION_FILES.config), 'utf8')
    .replace('usersFile', 'userFile')
    .replace('https://', '');
  writeFileSync(file('wrong.toml'), wrong);
  const command = runCommand(['authority', 'check', file('wrong.toml')]);
  const { code } = await command.ended;
  expect([code, command.err().replaceAll(`${directory}/`, '')]).toEqual([
    1,
    [
      'catalogue-replica: wrong.toml:6:1: unknown key "userFile"; the nearest known is usersFile',
      'catalogue-replica: wrong.toml:8:3: uri: got "partner.example.org/attAuthority.wsdl", want an address such as https://host/path',
      '',
    ].join('\n'),
  ]);
});

test('names by check a missing file once', async () => {
  const { end, err } = await authority('check', file('none.toml'));
  expect([end, err]).toEqual(['input', 'none.toml: cannot be read (ENOENT)']);
});

test('describes by inspect an attribute certificate, whether its signature is good, and certificates', async () => {
  const good = await authority('inspect', file(DEMONSTRATION_FILES.visitorCertificate));
  expect([good.end, good.out]).toEqual([
    '',
    expect.stringMatching(/^roles +researcher, guest$[^]*^signature +rsa-sha256, good$/m),
  ]);
  writeFileSync(
    file('changed.xml'),
    readFileSync(file(DEMONSTRATION_FILES.visitorCertificate), 'utf8').replace('guest', 'admin'),
  );
  expect((await authority('inspect', file('changed.xml'))).out).toMatch(
    /^signature +rsa-sha256, BAD: it was changed after it was signed/m,
  );
  const inspected = await authority('inspect', file(DEMONSTRATION_FILES.user));
  // Long names continue on indented lines.
  expect(inspected.out.replace(/\n +/g, ' ')).toMatch(
    /^certificate +\/O=.*\/CN=Sample User\/CN=\d+$[^]*^certificate +\/O=.*\/CN=Sample User$/m,
  );
  expect(await authority('inspect', file('users'))).toMatchObject({
    end: 'input',
    err: expect.stringMatching(/^users: /) as string,
  });
});

test('reports by inspect a signer other than the issuer, as any holder of a certificate can be', async () => {
  writeFileSync(file('own.xml'), makeSigner(SIGNERS.Authority)(ADMIN));
  writeFileSync(file('forged.xml'), makeSigner(SIGNERS.Ada)(ADMIN));
  expect((await authority('inspect', file('own.xml'))).out).toMatch(/^signature +ecdsa-sha256, good$/m);
  expect((await authority('inspect', file('forged.xml'))).out).toMatch(
    /^signature +ecdsa-sha256, BAD: it is not of the issuer$/m,
  );
});

test.each([
  [
    '',
    [],
    /^accepted\nholder +\/O=Test\/CN=Ada\nroles +admin, staff\nprovenance +original\nissuer name +Here\nvalid to +.* UTC\n$/,
  ],
  // A name is a set of its parts.
  ['', ['--holder', '/CN=Ada/O=Test'], /^accepted/],
  ['is of /O=Test/CN=Ada, and not of /O=Test/CN=Eve', ['--holder', '/O=Test/CN=Eve'], /^$/],
  ['is not valid before', ['--time', instant(AT - 1)], /^$/],
  ['has expired at', ['--time', instant(AT + 61)], /^$/],
  ['is signed by a certificate that has expired', ['--time', '2090-01-01T00:00:00Z'], /^$/],
])('decides by verify-attributes as a service does: %j, with the flags %j', async (problem, flags, printed) => {
  writeFileSync(file('staff.xml'), makeSigner(SIGNERS.Authority)(ADMIN));
  writeFileSync(file('signer.pem'), SIGNERS.Authority.pem);
  const words = ['--time', instant(AT), '--signer', file('signer.pem'), ...flags, file('staff.xml')];
  const { end, out, err } = await authority('verify-attributes', ...words);
  expect([end, out]).toEqual([problem === '' ? '' : 'refused', expect.stringMatching(printed)]);
  if (problem !== '') expect(err).toContain(`refused: staff.xml: the attribute certificate ${problem}`);
});

test.skipIf(!hasProgram('xmlsec1'))('accepts SHA-1 by verify-attributes if told to, as services do', async () => {
  const old = holderOf('signer', nameDer(person('Signer')), rsaPair(), CA);
  const template = templateOf(
    'staff',
    'http://www.w3.org/2001/10/xml-exc-c14n#',
    'http://www.w3.org/2000/09/xmldsig#rsa-sha1',
  );
  writeFileSync(file('old.pem'), old.pem);
  writeFileSync(
    file('old.xml'),
    xmlsecSigned(template, old.key.export({ type: 'pkcs8', format: 'pem' }) as string, old.pem),
  );
  const words = ['--time', instant(AT), '--signer', file('old.pem'), file('old.xml')];
  const { err } = await authority('verify-attributes', ...words);
  expect(err).toContain('is signed with rsa-sha1, which is not accepted here');
  expect(await authority('verify-attributes', '--allow-sha1', ...words)).toMatchObject({ end: '', err: '' });
});

test('requires by verify-attributes a holder that is a name, and accepts no other spelling of it', async () => {
  writeFileSync(file('signer.pem'), SIGNERS.Authority.pem);
  writeFileSync(file('other.xml'), makeSigner(SIGNERS.Authority)({ ...ADMIN, holder: 'CN=Ada,O=Test' }));
  const asked = (holder: string): ReturnType<typeof authority> =>
    authority('verify-attributes', ...flags, '--holder', holder, file('other.xml'));
  const flags = ['--time', instant(AT), '--signer', file('signer.pem')];
  expect(await asked('CN=Bob,O=Test')).toMatchObject({ end: 'usage', out: '' });
  expect(await asked('/O=Test/CN=Ada')).toMatchObject({ end: 'refused', out: '' });
});

test('trusts by verify-attributes only the key of the authority, whatever certificate is embedded', async () => {
  writeFileSync(file('signer.pem'), SIGNERS.Authority.pem);
  const judged = async (text: string): Promise<string> => {
    writeFileSync(file('sent.xml'), text);
    const words = ['--time', instant(AT), '--signer', file('signer.pem'), file('sent.xml')];
    const { end, err } = await authority('verify-attributes', ...words);
    expect(end).toBe('refused');
    return err;
  };
  const [own, forged] = [makeSigner(SIGNERS.Authority)(ADMIN), makeSigner(SIGNERS.Ada)(ADMIN)];
  expect(await judged(forged)).toContain(
    'is signed by the key of /O=Test/CN=Ada, and not by that of /O=Test/CN=Authority',
  );
  const certificateIn = (text: string): string => /<[^<]*X509Certificate>([^<]*)</.exec(text)![1]!;
  expect(await judged(forged.replace(certificateIn(forged), certificateIn(own)))).toMatch(/signature|changed|names/);
  expect(await judged(own.replace('admin', 'owner'))).toContain('was changed after it was signed');
  const other = makeSigner(SIGNERS.Authority)({ ...ADMIN, issuer: '/O=Test/CN=Other' });
  expect(await judged(other)).toContain('names /O=Test/CN=Other as its issuer, and is signed by /O=Test/CN=Authority');
  expect(await judged('<a/>')).toContain('refused: sent.xml: the attribute certificate ');
  expect(await judged('')).toContain('refused: sent.xml: the attribute certificate ');
  const noSigner = await authority('verify-attributes', '--signer', file('sent.xml'), file('sent.xml'));
  expect([noSigner.end, noSigner.err]).toEqual(['input', expect.stringMatching(/^sent\.xml: /)]);
});

test('issues a CA, a user and a proxy that verify-cert accepts, the user in the strict profile too', async () => {
  expect((await authority('issue', '--kind', 'ca', '--name', '/O=Test/CN=CA', '-o', file('ca1'))).end).toBe('');
  const ca = ['--issuer', file('ca1.pem'), '--issuer-key', file('ca1.key')];
  expect(
    (
      await authority(
        'issue',
        '--kind',
        'user',
        '--name',
        '/O=Test/CN=Name',
        ...ca,
        '--key-type',
        'ec',
        '-o',
        file('user1'),
      )
    ).end,
  ).toBe('');
  expect((await authority('verify-cert', '--trust', file('ca1.pem'), file('user1.pem'))).end).toBe('');
  const user = ['--issuer', file('user1.pem'), '--issuer-key', file('user1.key')];
  expect((await authority('issue', '--kind', 'limited-proxy', ...user, '-o', file('proxy1'))).end).toBe('');
  const verify = ['verify-cert', '--trust', file('ca1.pem'), file('proxy1.pem')];
  expect((await authority(...verify, '--allow-limited-proxies')).end).toBe('');
  expect((await authority(...verify, '--allow-proxies')).end).toBe('refused');
});

test('issues nothing that outlives its issuer, and nothing for an expired one', () => {
  const issued = (kind: 'ca' | 'user', hours: number, output: string, atHours: number): string => {
    const by = kind === 'ca' ? {} : { issuer: file('short.pem'), issuerKey: file('short.key') };
    const flags = { kind, name: '/CN=x', keyType: 'ec', hours, output: file(output), ...by } as const;
    return issueFiles(flags, NOW + atHours * 3600);
  };
  issued('ca', 2, 'short', 0);
  issued('user', 24, 'user5', 1);
  const endOf = (name: string): string => new X509Certificate(readFileSync(file(`${name}.pem`))).validTo;
  expect(endOf('user5')).toBe(endOf('short'));
  expect(() => issued('user', 24, 'user6', 2)).toThrow('short.pem: its first certificate has expired');
  expect(existsSync(file('user6.key'))).toBe(false);
});

test('issues with the key of the issuer only, and takes its certificate from a file with its key', async () => {
  const issued = async (kind: string, name: string, issuer: string, key: string) =>
    authority(
      'issue',
      '--kind',
      kind,
      ...(kind === 'proxy' ? [] : ['--name', `/O=Test/CN=${name}`]),
      '-o',
      file(name),
      '--issuer',
      file(issuer),
      '--issuer-key',
      file(key),
    );
  await authority('issue', '--kind', 'ca', '--name', '/O=Test/CN=CA', '-o', file('ca2'));
  await authority('issue', '--kind', 'ca', '--name', '/O=Test/CN=CA', '-o', file('ca3'));
  expect(await issued('user', 'user2', 'ca2.pem', 'ca3.key')).toEqual({
    end: 'input',
    out: '',
    err: 'ca2.pem: its first certificate is not that of the key in ca3.key',
  });
  expect(existsSync(file('user2.key'))).toBe(false);
  expect((await issued('user', 'user2', 'ca2.pem', 'ca2.key')).end).toBe('');
  writeFileSync(file('both.pem'), readFileSync(file('user2.key'), 'utf8') + readFileSync(file('user2.pem'), 'utf8'));
  expect((await issued('proxy', 'proxy2', 'both.pem', 'both.pem')).end).toBe('');
  const whole = readFileSync(file('proxy2.pem'), 'utf8') + readFileSync(file('proxy2.key'), 'utf8');
  writeFileSync(file('x509up'), whole);
  const verify = ['verify-cert', '--trust', file('ca3.pem'), '--trust', file('ca2.pem'), '--allow-proxies'];
  expect((await authority(...verify, file('x509up'))).end).toBe('');
  const inspected = await authority('inspect', file('x509up'));
  expect(inspected.out).toBe((await authority('inspect', file('proxy2.pem'))).out);
});

test('issues with RSA and EC keys only', async () => {
  await authority('issue', '--kind', 'ca', '--name', '/O=Test/CN=CA', '-o', file('ca4'));
  const others = [
    generateKeyPairSync('ed25519'),
    generateKeyPairSync('rsa-pss', { modulusLength: 2048, hashAlgorithm: 'sha256', mgf1HashAlgorithm: 'sha256' }),
  ];
  for (const { privateKey } of others) {
    writeFileSync(file('other.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const words = ['--kind', 'user', '--name', '/CN=x', '--issuer', file('ca4.pem'), '-o', file('never')];
    const { end, err } = await authority('issue', ...words, '--issuer-key', file('other.key'));
    const said = 'other.key holds a key that nothing is signed with here: want an RSA or EC key';
    expect([end, err]).toEqual(['input', said]);
  }
});

test.each(['pem', 'key'])('overwrites no .%s when it issues, and leaves no second file next to it', async (ending) => {
  const prefix = `kept-${ending}`;
  writeFileSync(file(`${prefix}.${ending}`), 'mine');
  const { end, err } = await authority('issue', '--kind', 'ca', '--name', '/O=Test/CN=CA', '-o', file(prefix));
  expect([end, err]).toEqual(['usage', `${prefix}.${ending} is there already, and is not written over`]);
  expect(readdirSync(directory).filter((name) => name.startsWith(prefix))).toEqual([`${prefix}.${ending}`]);
  expect(readFileSync(file(`${prefix}.${ending}`), 'utf8')).toBe('mine');
});

/** The flags are refused before these files are read. */
const BY_SELF = ['--issuer', 'none.pem', '--issuer-key', 'none.key'] as const;

test.for([
  ['a user without an issuer', ['--kind', 'user', '--name', '/CN=x']],
  ['a proxy with a name', ['--kind', 'proxy', '--name', '/CN=x']],
  ['a CA without a name', ['--kind', 'ca']],
  ['a name of an unknown type', ['--kind', 'ca', '--name', '/XY=x']],
  ['a name that is none', ['--kind', 'ca', '--name', 'x']],
  ['an unknown kind', ['--kind', 'king', '--name', '/CN=x']],
  ['a country beyond ASCII', ['--kind', 'ca', '--name', '/C=Österreich/CN=X']],
  ['an address of mail beyond ASCII', ['--kind', 'ca', '--name', '/CN=X/emailAddress=jürgen@example.org']],
  ['a domain beyond ASCII', ['--kind', 'ca', '--name', '/DC=org/DC=exämple/CN=X']],
  ['a path length of a user', ['--kind', 'user', '--name', '/CN=x', '--path-length', '1', ...BY_SELF]],
  ['a path length of a legacy proxy', ['--kind', 'legacy-proxy', '--path-length', '1', ...BY_SELF]],
  ['a name of 65 attributes', ['--kind', 'ca', '--name', '/OU=x'.repeat(65)]],
] as const)('refuses to issue %s as wrong usage', async ([, words]) => {
  expect((await authority('issue', ...words, '-o', file('never'))).end).toBe('usage');
  expect(readdirSync(directory).filter((name) => name.startsWith('never'))).toEqual([]);
});

test.each([
  ['ordinary', '/C=AT/DC=org/O=Universität Wien/OU=日本/CN=Jürgen = "J"/emailAddress=a+b@example.org'],
  ['64attributes', '/OU=x'.repeat(64)],
])('issues for a name that is %s, and prints it', async (prefix, name) => {
  const { end, out } = await authority('issue', '--kind', 'ca', '--name', name, '-o', file(prefix));
  expect([end, out]).toEqual(['', `${file(prefix)}.pem: ${name}; its key is in ${file(prefix)}.key\n`]);
});

test('makes a demonstration for a user without a home that ends with the process, and none in the working directory', () => {
  const { HOME } = process.env;
  try {
    process.env['HOME'] = '';
    expect(demonstrationDirectory()).toBeUndefined();
    process.env['HOME'] = '/home/somebody';
    expect(demonstrationDirectory()).toBe('/home/somebody/.cache/catalogue-replica/demonstration-authority');
  } finally {
    process.env['HOME'] = HOME;
  }
  const temporary = prepareDemonstration(undefined, NOW);
  expect(dirname(temporary)).toBe(tmpdir());
  expect(existsSync(join(temporary, DEMONSTRATION_FILES.config))).toBe(true);
  rmSync(temporary, { recursive: true });
});

test('refuses a demonstration without room in home or TMPDIR, with the variable to set', () => {
  const { TMPDIR } = process.env;
  writeFileSync(file('no-folder'), '');
  try {
    process.env['TMPDIR'] = file('absent');
    const wanted = {
      code: 'file',
      message: expect.stringMatching(/absent: set TMPDIR or HOME to a directory/) as unknown,
    };
    for (const home of [undefined, file('no-folder/demonstration')])
      expect(() => prepareDemonstration(home, NOW)).toThrow(expect.objectContaining(wanted));
  } finally {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
  }
});
