// Configurations: a good one is loaded as a whole, and for a wrong one every error is reported with its file and line.
import { appendFileSync, chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadAuthority } from '../../../../server/authority/configuration/load.ts';
import { nameDer } from '../../../../server/authority/issuance.ts';
import { setKeyFromText } from '../../../../server/authority/x509/name.ts';
import {
  CONFIG_LINES,
  loadedData,
  mistakesIn,
  mistakesWith,
  type TestSite,
  testSite,
} from '../../../support/authorities.ts';
import { makeCrl, pemOf } from '../../../support/certificates.ts';
import { AT, caOf, ecPair, holderOf, person, rsaPair } from '../../../support/pki.ts';

let site: TestSite;
beforeAll(() => {
  site = testSite({ site: ecPair(), partner: ecPair() });
});
afterAll(() => site.remove());

const mistakesOf = (lines: readonly string[]): readonly string[] => mistakesWith(site, lines);
const mistakes = (at = AT): readonly string[] => mistakesIn(site, at);

/** The usual lines with some replaced, by their starts; line numbers stay. */
function changed(changes: Readonly<Record<string, string>>): readonly string[] {
  return CONFIG_LINES.map((line) => {
    const key = Object.keys(changes).find((start) => line.trim().startsWith(start));
    return key === undefined ? line : changes[key]!;
  });
}

function roles(name: string): readonly string[] {
  return loadedData(site).users.get(setKeyFromText(name) ?? '') ?? [];
}

describe('a good configuration', () => {
  test('is loaded: users of both sources, hosts with their mappings, and the defaults', () => {
    expect(mistakesOf(CONFIG_LINES)).toEqual([]);
    expect(roles('/O=Test/CN=Staff')).toEqual(['staff', 'reader']);
    expect(roles('/CN=Boss/O=Test')).toEqual(['admin', 'staff']);
    expect(roles('/O=Test/CN=Nobody')).toEqual([]);
    const { key, users, hosts, certificate, anchors, ...rest } = loadedData(site);
    expect(rest).toEqual({
      siteName: 'Here',
      issuerNotAfter: site.ca.certificate.notAfter,
      isIssuerRevoked: false,
      crls: undefined,
      lifetimeSeconds: 28_800,
      notBeforeOffsetSeconds: 0,
      clockSkewSeconds: 0,
      legacyProxies: true,
      allowWeak: false,
      externalSignatures: ['rsa-sha256'],
    });
    expect([key.asymmetricKeyType, users.size, hosts.length, anchors.length]).toEqual(['ec', 2, 1, 1]);
    expect(Buffer.from(certificate)).toEqual(Buffer.from(site.site.certificate.der));
  });

  test('may have its key and certificate in one file', () => {
    site.write('both.pem', `${site.site.key.export({ type: 'pkcs8', format: 'pem' }) as string}${site.site.pem}`);
    expect(mistakesOf(changed({ key: 'key = "both.pem"', certificate: 'certificate = "both.pem"' }))).toEqual([]);
  });

  test('has notes for the operator', () => {
    site.write('authority.toml', ['allowWeak = true', 'externalSignatures = ["rsa-sha1"]', ...CONFIG_LINES].join('\n'));
    chmodSync(join(site.directory, 'site.key'), 0o644);
    const loading = loadAuthority(site.config, AT);
    chmodSync(join(site.directory, 'site.key'), 0o600);
    expect(loading.kind === 'loaded' && loading.notes.join('\n').replaceAll(`${site.directory}/`, '')).toBe(
      [
        'the certificate of /O=Test/CN=Here Authority expires within 1 days',
        'others than its owner can read the key site.key',
        'revocation is not checked: the configuration names no crls',
        'weak signatures and keys are accepted: allowWeak is set',
        "other sites' signatures with SHA-1 are accepted",
      ].join('\n'),
    );
  });

  /** The notes of a configuration at a time, without the one about its own certificate. */
  function notesOf(lines: readonly string[], at = AT): readonly string[] {
    site.write('authority.toml', lines.join('\n'));
    const loading = loadAuthority(site.config, at);
    if (loading.kind !== 'loaded') throw new Error(JSON.stringify(loading.mistakes));
    return loading.notes.filter((note) => !/^(?:the certificate of .* expires|revocation is not)/.test(note));
  }

  test('has notes about CAs without users: invalid, expired, or repeated ones', () => {
    const old = holderOf('ca', nameDer(person('Old CA')), ecPair(), undefined, { notBefore: AT - 9, notAfter: AT - 1 });
    const early = holderOf('ca', nameDer(person('Early CA')), ecPair(), undefined, {
      notBefore: AT + 1,
      notAfter: AT + 9,
    });
    site.write('ca.pem', [site.ca, site.staff, old, early, site.ca].map(({ pem }) => pem).join(''));
    const notes = notesOf(CONFIG_LINES);
    site.write('ca.pem', site.ca.pem);
    expect(notes).toEqual([
      'the certificate of /O=Test/CN=Staff is among the CAs and is of none: it certifies nobody',
      'the CA /O=Test/CN=Old CA has expired: nobody whom it certified gets in',
      'the CA /O=Test/CN=Early CA is not valid yet: nobody whom it certified gets in',
      'the CA /O=Test/CN=CA is there twice',
    ]);
    expect(notesOf(CONFIG_LINES)).toEqual([]);
  });

  test('has a note about a CA without a current CRL', () => {
    mkdirSync(join(site.directory, 'lists'));
    const lines = ['crls = "lists"', ...CONFIG_LINES];
    const note = 'there is no current CRL of /O=Test/CN=CA: nobody whom it certified gets in';
    expect(notesOf(lines)).toEqual([note]);
    const issuer = { subject: site.ca.name, keys: { privateKey: site.ca.key } };
    const crl = makeCrl({ issuer, revoked: [], thisUpdate: AT - 100, nextUpdate: AT + 100 });
    site.write('lists/ca.crl', pemOf('X509 CRL', crl));
    expect([notesOf(lines), notesOf(lines, AT + 101)]).toEqual([[], [note]]);
  });

  test('has a note if no user can be accepted', () => {
    site.write('users', '');
    const end = CONFIG_LINES.indexOf('[users]');
    expect(notesOf(CONFIG_LINES.slice(0, end))).toEqual([
      'nobody can get in: there are no users here, and no role of a trusted host is mapped',
    ]);
    site.write('users', '"/O=Test/CN=Staff" staff, reader\n');
  });

  test('may have names with quotes, backslashes, other scripts, and those that objects inherit', () => {
    site.write('users', String.raw`"/O=Test/CN=\"Q\" \\ Ünï" staff` + '\r\n"/CN=__proto__" constructor\r\n');
    expect(mistakesOf(CONFIG_LINES)).toEqual([]);
    expect([roles('/O=Test/CN="Q" \\ Ünï'), roles('/CN=__proto__')]).toEqual([['staff'], ['constructor']]);
    site.write('users', '');
  });
});

describe('an error in a configuration', () => {
  test.for<[what: string, lines: () => readonly string[], mistakes: readonly string[]]>([
    ['no TOML', () => ['name = "Here"', 'key = '], [expect.stringMatching(/^authority\.toml:2:\d+: /) as string]],
    [
      'required keys that are missing',
      () => [],
      ['name', 'key', 'certificate', 'ca'].map(
        (key) => expect.stringContaining(`authority.toml: the key ${key} is missing`) as string,
      ),
    ],
    [
      'an unknown key',
      () => ['lifetimeSecond = 1', ...CONFIG_LINES],
      ['authority.toml:1:1: unknown key "lifetimeSecond"; the nearest known is lifetimeSeconds'],
    ],
    [
      'values of another type or range',
      () => [
        'lifetimeSeconds = "8h"',
        'clockSkewSeconds = -1',
        'legacyProxies = 1',
        'notBeforeOffsetSeconds = 1e9',
        ...CONFIG_LINES,
      ],
      [
        'authority.toml:1:1: lifetimeSeconds: got "8h", want an integer from 1 to 31622400',
        'authority.toml:2:1: clockSkewSeconds: got -1, want an integer from 0 to 3600',
        'authority.toml:3:1: legacyProxies: got 1, want true or false (or 1 or 0)',
        'authority.toml:4:1: notBeforeOffsetSeconds: got 1000000000, want an integer from -86400 to 86400',
      ],
    ],
    [
      'an invalid path, once',
      () => changed({ usersFile: 'usersFile = 5' }),
      ['authority.toml:5:1: usersFile: got 5, want the path of a directory or file'],
    ],
    [
      'certificates that would end before they are issued',
      () => ['notBeforeOffsetSeconds = -28800', ...CONFIG_LINES],
      [
        'authority.toml:1:1: notBeforeOffsetSeconds has every attribute certificate end before it is issued: lifetimeSeconds is 28800',
      ],
    ],
    [
      'an element of an array',
      () => ['externalSignatures = [', '  "rsa-sha256", # good', '  "hmac",', ']', ...CONFIG_LINES],
      ['authority.toml:3:3: externalSignatures: got "hmac", want rsa-sha256 or ecdsa-sha256 or rsa-sha1'],
    ],
    [
      'a name of a site with a colon',
      () => changed({ 'name = "Here"': 'name = "He:re"' }),
      ['authority.toml:1:1: name: got "He:re", want a name without colons, control characters, or blanks at its ends'],
    ],
    [
      'a key in the place of the name of its file, which is not repeated',
      () => changed({ key: `key = '''\n-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----'''` }),
      [expect.stringMatching(/^authority\.toml:2:\d+: key: got a private key itself, want (?![^]*MIGH)/) as string],
    ],
    [
      'files that are not there',
      () => changed({ key: 'key = "none.key"', 'ca =': 'ca = ["none.pem"]', usersFile: 'usersFile = "none"' }),
      [
        'authority.toml:2:1: none.key cannot be read (ENOENT)',
        'authority.toml:4:7: none.pem cannot be read (ENOENT)',
        'authority.toml:5:1: none cannot be read (ENOENT)',
      ],
    ],
    [
      'a pipe or device, which would block',
      () => changed({ key: 'key = "/dev/zero"', 'ca =': 'ca = ["/dev"]' }),
      [
        'authority.toml:2:1: /dev/zero cannot be read (it is no file but a pipe, a device or a directory)',
        'authority.toml:4:7: /dev cannot be read (it is no file but a pipe, a device or a directory)',
      ],
    ],
    [
      'users that are no names, have bad roles, none, or are named twice',
      () => {
        site.write(
          'users',
          '# head\n"/O=Test/CN=A" r\n/O=Test/CN=B r\n"CN=C" r\n"/CN=D" a:b, c,\n"/CN=A/O=Test" s\n"/O=Test/CN=Boss" r\n"/CN=\u0007" r\n',
        );
        return changed({ '"/O=Test/CN=Boss"': '"/O=Test/CN=Boss" = []' });
      },
      [
        'users:3: is no user; want "/O=Site/CN=Name" role, role',
        'users:4: the user "CN=C" is not of the form /TYPE=value/TYPE=value',
        'users:5: the role "a:b" has a colon or comma',
        'users:5: the role "" is empty',
        'users:6: the user "/CN=A/O=Test" is also at users:2',
        'users:8: the user "/CN=\\u0007" has a control character',
        'authority.toml:7:1: the user "/O=Test/CN=Boss" is also at users:7',
        'authority.toml:7:1: the user "/O=Test/CN=Boss" has no roles',
      ],
    ],
    [
      'users in another form',
      () => {
        site.write('users', '');
        return changed({ '"/O=Test/CN=Boss"': '"/O=Test/CN=Boss" = "admin"' });
      },
      ['authority.toml:7:1: the roles of "/O=Test/CN=Boss": want an array of strings'],
    ],
    [
      'a trusted host with everything wrong',
      () =>
        changed({
          'name = "Partner"': 'name = "Part:ner"',
          uri: 'uri = "partner"',
          signer: 'signer = "Partner"',
          '{ remote = "student"': '  { remote = "stu,dent", local = "rea:der" },',
          '{ remote = "staff"': '  { remote = "staff", locale = "editor" },',
        }),
      [
        'authority.toml:8:3: name: "Part:ner" has a colon',
        'authority.toml:8:3: signer: "Partner" is not of the form /TYPE=value/TYPE=value',
        'authority.toml:8:3: uri: got "partner", want an address such as https://host/path',
        'authority.toml:13:3: remote: "stu,dent" has a colon or comma',
        'authority.toml:13:3: local: "rea:der" has a colon or comma',
        'authority.toml:14:23: unknown key "locale"; known are remote, local',
        'authority.toml:14:3: local is missing or empty',
      ],
    ],
    [
      'a trusted host twice, and one with the name of this site',
      () => [
        ...CONFIG_LINES,
        ...CONFIG_LINES.slice(7),
        '[[trustedHost]]',
        'name = "Here"',
        'uri = "https://h/"',
        'signer = "/CN=S"',
      ],
      [
        'authority.toml:16:3: the trusted host "Partner" is also at authority.toml:8:3',
        'authority.toml:24:3: the trusted host "Here" has the name of this site',
      ],
    ],
    [
      'trusted hosts and users in another form',
      () => ['trustedHost = "Partner"', 'users = ["a"]', ...CONFIG_LINES.slice(0, 5)],
      [
        'authority.toml:1:1: trustedHost: want tables, each begun with [[trustedHost]]',
        'authority.toml:2:1: users: want a table, "/O=Site/CN=Name" = ["role"]',
      ],
    ],
  ])('is reported with its file and line: %s', ([, lines, expected]) => {
    expect(mistakesOf(lines())).toEqual(expected);
  });
});

describe('a key or certificate that no site would accept', () => {
  const other = holderOf('signer', nameDer(person('Other')), ecPair(), caOf('Other CA'));
  test.for<[what: string, prepare: () => void, mistake: string | RegExp]>([
    [
      'the certificate of another key',
      () => site.write('site.pem', holderOf('signer', site.site.name, ecPair(), site.ca).pem),
      /^site\.pem: is not the certificate of the key in site\.key$/,
    ],
    [
      'a certificate of an unknown CA',
      () => [
        site.write('site.pem', other.pem),
        site.write('site.key', other.key.export({ type: 'pkcs8', format: 'pem' })),
      ],
      /^site\.pem: .*CA/,
    ],
    [
      'a short key',
      () => site.write('site.key', rsaPair(1024).privateKey.export({ type: 'pkcs8', format: 'pem' })),
      /^site\.key: has fewer than 2048 bits$/,
    ],
    [
      'a key of another curve',
      () => site.write('site.key', ecPair('P-384').privateKey.export({ type: 'pkcs8', format: 'pem' })),
      /^site\.key: is of another curve than P-256$/,
    ],
    [
      'a key with a passphrase',
      () =>
        site.write(
          'site.key',
          ecPair().privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }),
        ),
      /^site\.key: holds no private key in PEM without a passphrase$/,
    ],
    [
      'a certificate in place of the key',
      () => site.write('site.key', site.site.pem),
      /^site\.key: holds no private key/,
    ],
    [
      'a key in place of the CAs',
      () => site.write('ca.pem', site.site.key.export({ type: 'pkcs8', format: 'pem' })),
      /^ca\.pem: /,
    ],
    [
      'a user file that is not UTF-8',
      () => site.write('users', Buffer.from('"/CN=Zo\xc3\xab" r\n"/CN=Zo\xeb" r\n"/CN=\xeb" r', 'latin1')),
      /^users:2: is not UTF-8$/,
    ],
  ])('is an error: %s', ([, prepare, mistake]) => {
    site.write('authority.toml', CONFIG_LINES.join('\n'));
    prepare();
    const found = mistakes();
    site.write('site.pem', site.site.pem);
    site.write('site.key', site.site.key.export({ type: 'pkcs8', format: 'pem' }));
    site.write('ca.pem', site.ca.pem);
    site.write('users', '');
    expect(found).toEqual([expect.stringMatching(mistake)]);
    expect(mistakes()).toEqual([]);
  });

  test('is an error if the certificate has expired', () => {
    site.write('authority.toml', CONFIG_LINES.join('\n'));
    expect(mistakes(AT + 2 * 86_400)).toEqual([expect.stringMatching(/^site\.pem: .*expired/)]);
  });
});

describe('the CRL directory', () => {
  test('is an error if it cannot be read', () => {
    expect(mistakesOf(['crls = "none"', ...CONFIG_LINES])).toEqual([
      'authority.toml:1:1: none cannot be read as a directory (ENOENT)',
    ]);
  });
});

test('reads a configuration with a byte order mark like one without', () => {
  site.write('authority.toml', `\uFEFF${CONFIG_LINES.join('\r\n')}`);
  appendFileSync(site.config, '\r\n');
  expect(mistakes()).toEqual([]);
});
