// The long version of test/property/certificates.test.ts: minutes of mutated certificates of the public suites, CRLs
// and texts.
import { expect, test } from 'vitest';
import { readPem } from '../../server/authority/x509/pem.ts';
import { fuzzCertificates } from '../support/certificateFuzz.ts';
import {
  AT,
  caExtensions,
  CRL_NUMBER,
  extension,
  makeCa,
  makeCrl,
  makeProxy,
  makeUser,
  sequence,
} from '../support/certificates.ts';
import { PATH_SUITES, pathCases } from '../support/testdata.ts';
import { RUN_SEED } from '../support/random.ts';
import { times } from '../support/ring.ts';

const ROUNDS = times(1, 10);
const COUNT = 100_000;

const CA = makeCa('CA');
const LOWER = makeCa('Lower', { issuer: CA, extensions: caExtensions(0) });
const USER = makeUser('Ada', LOWER);
const CHAIN = [makeProxy(makeProxy(USER)), makeProxy(USER), USER, LOWER, CA].map(({ der }) => der);

/** All blocks of one kind in the texts of the public suites. */
function suiteBlocks(kind: 'certificates' | 'crls'): readonly Uint8Array[] {
  const cases = PATH_SUITES.flatMap((suite) => pathCases(suite));
  const texts = cases.flatMap(({ leaf, inter, trusted, crls }) =>
    kind === 'crls' ? crls : [leaf, ...inter, ...trusted],
  );
  const readings = [...new Set(texts)].map((text) => readPem(text));
  return readings.flatMap((reading) => (reading.kind === 'read' ? reading.blocks.map(({ der }) => der) : []));
}

test(`never crashes, keeps little memory, and accepts no forgery on ${ROUNDS * COUNT} mutated inputs (seed ${RUN_SEED})`, async () => {
  const point = extension('2.5.29.28', sequence(), true);
  const made = [makeCrl({ issuer: CA, revoked: [1n, 2n] }), makeCrl({ issuer: CA, extensions: [CRL_NUMBER, point] })];
  const certificates = [...CHAIN, ...suiteBlocks('certificates')];
  const crls = [...made, ...suiteBlocks('crls')];
  for (let round = 0; round < ROUNDS; round++) {
    const task = { seed: RUN_SEED + round, count: COUNT, at: AT, certificates, crls, chain: CHAIN };
    const { faults, read } = await fuzzCertificates(task);
    expect(faults).toEqual([]);
    expect(read).toBeGreaterThan(COUNT / 100);
  }
});
