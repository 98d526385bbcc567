// Certificate readers on hostile bytes: the readers terminate and keep little memory, and the validator accepts nothing
// unsigned. Their results equal those of the runtime's reader for certificates that it can read.
// test/load/certificates.long.test.ts runs longer.
import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { isCa, mayBeUsedFor, parseCertificate } from '../../server/authority/x509/certificate.ts';
import { readPem } from '../../server/authority/x509/pem.ts';
import { fuzzCertificates } from '../support/certificateFuzz.ts';
import { AT, caExtensions, makeCa, makeCrl, makeProxy, makeUser } from '../support/certificates.ts';
import { hasPathSuites, PATH_SUITES, pathCases } from '../support/testdata.ts';
import { RUN_SEED } from '../support/random.ts';
import { times } from '../support/ring.ts';

const COUNT = times(3000, 20_000);

const CA = makeCa('CA');
const LOWER = makeCa('Lower', { issuer: CA, extensions: caExtensions(0) });
const USER = makeUser('Ada', LOWER);
const PROXY = makeProxy(USER);

/** All certificates of the public suites; the runtime cannot read every one of them. */
function suiteCertificates(): readonly Uint8Array[] {
  const cases = PATH_SUITES.flatMap((suite) => pathCases(suite));
  const texts = new Set(cases.flatMap(({ leaf, inter, trusted }) => [leaf, ...inter, ...trusted]));
  return [...texts].flatMap((text) => {
    const reading = readPem(text);
    return reading.kind === 'read' ? reading.blocks.map(({ der }) => der) : [];
  });
}

test(`never crashes, keeps little memory, and accepts no forgery on mutated inputs (seed ${RUN_SEED})`, async () => {
  const chain = [PROXY, USER, LOWER, CA].map(({ der }) => der);
  const certificates = [...chain, ...suiteCertificates().filter((_, i) => i % 40 === 0)];
  const crls = [makeCrl({ issuer: CA, revoked: [1n, 2n, 3n] }), makeCrl({ issuer: LOWER })];
  const { faults, read } = await fuzzCertificates({ seed: RUN_SEED, count: COUNT, at: AT, certificates, crls, chain });
  expect(faults).toEqual([]);
  // Enough of them get past the first bytes.
  expect(read).toBeGreaterThan(COUNT / 100);
});

describe.skipIf(!hasPathSuites())('the certificates of the public suites', () => {
  test('read like in the runtime: names, serial number, validity, key, extensions of use', () => {
    let compared = 0;
    for (const der of suiteCertificates()) {
      const theirs = read(() => new X509Certificate(der));
      const ours = read(() => parseCertificate(der));
      if (theirs === undefined || ours === undefined) continue;
      compared++;
      const serial = BigInt(`0x${theirs.serialNumber.replace('-', '')}`);
      expect(ours.serialNumber).toBe(theirs.serialNumber.startsWith('-') ? -serial : serial);
      expect([ours.notBefore, ours.notAfter]).toEqual([seconds(theirs.validFrom), seconds(theirs.validTo)]);
      expect(isCa(ours) && mayBeUsedFor(ours, 'keyCertSign')).toBe(theirs.ca);
      expect(valuesOf(ours.subject)).toEqual(valuesOfText(theirs.subject));
      expect(valuesOf(ours.issuer)).toEqual(valuesOfText(theirs.issuer));
      if (ours.publicKey) expect(ours.publicKey.equals(theirs.publicKey)).toBe(true);
    }
    expect(compared).toBeGreaterThan(500);
  });
});

function read<T>(reading: () => T): T | undefined {
  try {
    return reading();
  } catch {
    return undefined;
  }
}

function seconds(text: string): number {
  return Date.parse(text) / 1000;
}

type Rdns = ReturnType<typeof parseCertificate>['subject'];

/** Values in certificate order. */
function valuesOf({ rdns }: Rdns): readonly string[] {
  return rdns.flatMap(({ attributes }) => attributes.map(({ value }) => value));
}

/** The values of a name as the runtime prints it: one attribute per line, escaped; empty for an empty name. */
function valuesOfText(text: string | undefined): readonly string[] {
  // Node 22.23.5 has '' for an empty name, earlier releases undefined.
  if (!text) return [];
  return text.split('\n').map((line) => line.slice(line.indexOf('=') + 1).replace(/\\(.)/g, '$1'));
}
