// The authority's own certificate, checked as other sites will check it, the directory of its CRLs, and serial numbers.
import { createPublicKey } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeSigner } from '../../../../server/authority/attributeCertificate/write.ts';
import { loadAuthority } from '../../../../server/authority/configuration/load.ts';
import { issueCertificate, randomSerialNumber } from '../../../../server/authority/issuance.ts';
import { contentBy, judged } from '../../../support/attributeCertificates.ts';
import { CONFIG_LINES, mistakesWith, type TestSite, testSite } from '../../../support/authorities.ts';
import { type Attribute, nameDer, pemOf, oid, sequence, set, utf8 } from '../../../support/certificates.ts';
import { AT, ecPair, holderOf, person } from '../../../support/pki.ts';

let site: TestSite;
beforeAll(() => {
  site = testSite({ site: ecPair() });
});
afterAll(() => site.remove());

const mistakesOf = (lines: readonly string[]): readonly string[] => mistakesWith(site, lines);

describe('an authority certificate that other sites refuse', () => {
  test.each([
    ['that is not for signatures', 'ca', 5n, /^site\.pem: is not for signatures by its key usage: other sites/],
    ['with an endless serial number', 'signer', 10n ** 100n, /^site\.pem: has a serial number below 0, or of more/],
  ] as const)('is refused: %s', (_what, kind, serialNumber, message) => {
    const { certificate, key, name, pem } = site.site;
    const issuer = { name: site.ca.name, key: site.ca.key };
    const validity = { notBefore: certificate.notBefore, notAfter: certificate.notAfter };
    const publicKey = createPublicKey(key);
    site.write(
      'site.pem',
      pemOf('CERTIFICATE', issueCertificate({ kind, subject: name, publicKey, issuer, serialNumber, ...validity })),
    );
    expect(mistakesOf(CONFIG_LINES)).toContainEqual(expect.stringMatching(message));
    site.write('site.pem', pem);
    expect(mistakesOf(CONFIG_LINES)).toEqual([]);
  });
});

describe('an authority certificate whose names', () => {
  const KEYS = ecPair();
  const RULES = { algorithms: ['ecdsa-sha256'], allowWeak: false } as const;
  const ORDINARY = nameDer(person('Ordinary'));
  const common = (value: string): Buffer => nameDer([['CN', value]]);
  const LONG = 'has a name that is too long, or strange, to be written in what is issued (RFC 4514)';

  /**
   * The errors of an authority with this subject, issued by a CA of this name, and the reason why other sites refuse
   * its signatures.
   */
  function sayings(subject: Uint8Array, issuer: Uint8Array): readonly [readonly string[], string | undefined] {
    const ca = holderOf('ca', issuer, KEYS);
    const own = holderOf(
      'signer',
      subject,
      { publicKey: createPublicKey(site.site.key), privateKey: site.site.key },
      ca,
    );
    site.write('ca.pem', ca.pem);
    site.write('site.pem', own.pem);
    const mistakes = mistakesOf(CONFIG_LINES);
    site.write('ca.pem', site.ca.pem);
    site.write('site.pem', site.site.pem);
    const verdict = judged(makeSigner(own)(contentBy(own)), RULES);
    return [mistakes, typeof verdict === 'string' ? verdict : undefined];
  }

  const attribute = (type: string, value: string): Buffer => sequence(oid(type), utf8(value));
  test.each<[string, Uint8Array]>([
    [
      'have commas and quotes',
      nameDer([
        ['O', 'Test, "Inc."'],
        ['CN', '<A+B>; C = \\ #1'],
      ]),
    ],
    [
      'have blanks around',
      nameDer([
        ['O', '  Test  '],
        ['OU', ' '],
        ['CN', '#1 '],
      ]),
    ],
    [
      'are of other scripts',
      nameDer([
        ['O', 'Åbo Akademi'],
        ['CN', '日本 𝄞'],
      ]),
    ],
    [
      'have several values',
      sequence(set(attribute('2.5.4.3', 'A+B'), attribute('2.5.4.11', 'C,D')), set(attribute('2.5.4.3', 'E'))),
    ],
    [
      'have unknown types',
      nameDer([
        ['1.2.3.4', 'A'],
        ['2.999.1', '#B,'],
        ['2.5.4.5', '1'],
      ]),
    ],
    [
      'have an empty value',
      nameDer([
        ['OU', ''],
        ['CN', 'A'],
      ]),
    ],
    ['have 1,024 characters', common('x'.repeat(1021))],
  ])('%s is accepted', (_, name) => {
    expect(sayings(name, ORDINARY)).toEqual([[], undefined]);
    expect(sayings(ORDINARY, name)).toEqual([[], undefined]);
  });

  test.each<[string, Uint8Array]>([
    ['have 1,025', common('x'.repeat(1022))],
    ['have 1,025 with the escapes of commas', common(','.repeat(511))],
    ['end in a blank that others take away', common('A\u00a0')],
  ])('%s is an error', (_, name) => {
    for (const [mistakes, refusal] of [sayings(name, ORDINARY), sayings(ORDINARY, name)]) {
      expect(mistakes).toEqual([`site.pem: ${LONG}: other sites refuse what is signed with it`]);
      expect(refusal).toBe('names another certificate than the one it carries');
    }
  });

  test('are random is an error exactly if other sites refuse its signatures', () => {
    const unit = fc.constantFrom(',', '+', '"', '\\', '<', '>', ';', '=', '#', ' ', '\u00a0', 'é', '𝄞', 'A', 'f', '0');
    const types = fc.constantFrom('CN', 'O', 'DC', 'emailAddress', '1.2.3.4');
    const names = fc.array(fc.tuple(types, fc.string({ unit, maxLength: 6 })), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(names, names, (subject: readonly Attribute[], issuer: readonly Attribute[]) => {
        const [mistakes, refusal] = sayings(nameDer(subject), nameDer(issuer));
        expect(mistakes.some((mistake) => mistake.includes(LONG))).toBe(refusal !== undefined);
        expect(mistakes.every((mistake) => mistake.includes(LONG))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a directory of CRLs', () => {
  test('may contain the certificates of CAs too, as in grids', () => {
    mkdirSync(join(site.directory, 'grid'));
    const lines = ['crls = "grid"', ...CONFIG_LINES];
    site.write('grid/ca.pem', site.ca.pem + site.ca.pem);
    const unusable = (): unknown => {
      const loading = loadAuthority(site.config, AT);
      return loading.kind === 'loaded' && loading.unusableFiles;
    };
    expect([mistakesOf(lines), unusable()]).toEqual([[], 0]);
    site.write('grid/ca.pem', `${site.ca.pem}-----BEGIN X509 CRL-----\n-----END X509 CRL-----\n`);
    expect(unusable()).toBe(1);
  });
});

test('makes different positive serial numbers of 96 bits', () => {
  const numbers = Array.from({ length: 2000 }, randomSerialNumber);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers.every((one) => one > 0n && one < 1n << 96n)).toBe(true);
  const everyBit = numbers.reduce((bits, one) => bits | one, 0n);
  expect(everyBit).toBe((1n << 96n) - 1n);
});
