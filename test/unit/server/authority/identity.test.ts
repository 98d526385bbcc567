// An authority's own certificate, judged as others will judge it, and the directory of its CRLs.
import { createPublicKey } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issueCertificate } from '../../../../server/authority/issuance/certificate.ts';
import { CONFIG_LINES, mistakesWith, type TestSite, testSite } from '../../../support/authorities.ts';
import { pemOf } from '../../../support/certificates.ts';
import { ecPair } from '../../../support/pki.ts';

let site: TestSite;
beforeAll(() => {
  site = testSite({ site: ecPair() });
});
afterAll(() => site.remove());

const mistakesOf = (lines: readonly string[]): readonly string[] => mistakesWith(site, lines);

describe('an own certificate that other sites refuse', () => {
  test.each([
    ['that is not for signatures', 'ca', 5n, /^site\.pem: is not for signatures by its key usage: other sites/],
    ['with an endless serial number', 'signer', 10n ** 100n, /^site\.pem: has a serial number below 0, or of more/],
  ] as const)('%s', (_what, kind, serialNumber, message) => {
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

describe('a directory of CRLs', () => {
  test('may have the certificates of CAs beside them, as those of grids have', () => {
    mkdirSync(join(site.directory, 'grid'));
    const lines = ['crls = "grid"', ...CONFIG_LINES];
    site.write('grid/ca.pem', site.ca.pem + site.ca.pem);
    expect(mistakesOf(lines)).toEqual([]);
    site.write('grid/ca.pem', `${site.ca.pem}-----BEGIN X509 CRL-----\n-----END X509 CRL-----\n`);
    expect(mistakesOf(lines)).toEqual([expect.stringMatching(/^grid\/ca\.pem: /)]);
  });
});
