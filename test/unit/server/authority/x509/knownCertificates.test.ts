// Certificates that are known from accepted paths: whose they are, how many, and that nothing is known of any other
// pair.
import { describe, expect, test } from 'vitest';
import { KnownCertificates } from '../../../../../server/authority/x509/knownCertificates.ts';
import { makeCa, makeUser, type Made } from '../../../../support/certificates.ts';

const CA = makeCa('CA');
const USER = makeUser('Ada', CA);

function keeping(path: readonly Made[], bytesMax = 1 << 20): KnownCertificates {
  const known = new KnownCertificates(bytesMax);
  known.keep(path.map(({ certificate }) => certificate));
  return known;
}

describe('a certificate of an accepted path', () => {
  test('is read as the same one again, from a copy of its bytes too', () => {
    const known = keeping([USER, CA]);
    expect(known.read(USER.der)).toBe(USER.certificate);
    expect(known.read(Buffer.from(USER.der))).toBe(USER.certificate);
  });

  test('is another one with any of its bits changed', () => {
    const known = keeping([USER, CA]);
    for (let i = 0; i < USER.der.length; i++) {
      const changed = Buffer.from(USER.der);
      changed[i]! ^= 1;
      let read;
      try {
        read = known.read(changed);
      } catch {
        continue;
      }
      expect(read).not.toBe(USER.certificate);
      expect(known.isSigned(read, CA.certificate)).toBe(false);
    }
  });

  test('was signed by the next one of its path, and by nobody else of that name', () => {
    const known = keeping([USER, CA]);
    const twin = makeCa('CA');
    const renewed = makeCa('CA', { keys: CA.keys });
    expect(known.isSigned(USER.certificate, CA.certificate)).toBe(true);
    expect(known.isSigned(USER.certificate, twin.certificate)).toBe(false);
    expect(known.isSigned(USER.certificate, renewed.certificate)).toBe(false);
    expect(known.isSigned(makeUser('Ada', twin).certificate, CA.certificate)).toBe(false);
    expect(known.isSigned(CA.certificate, CA.certificate)).toBe(false);
  });
});

test('a certificate that was only read is not kept', () => {
  const known = new KnownCertificates(1 << 20);
  expect(known.read(USER.der)).not.toBe(known.read(USER.der));
  expect(known.bytes).toBe(0);
});

test('the configured CA at the end of a path is not kept', () => {
  expect(keeping([USER, CA]).bytes).toBe(USER.der.length);
  expect(keeping([CA]).bytes).toBe(0);
});

test('the one unused for longest makes room', () => {
  const users = ['a', 'b', 'c', 'd'].map((name) => makeUser(name, CA));
  const [a, b, c, d] = users as [Made, Made, Made, Made];
  const known = new KnownCertificates(3 * Math.max(...users.map(({ der }) => der.length)));
  for (const user of [a, b, c]) known.keep([user.certificate, CA.certificate]);
  known.read(a.der);
  known.keep([d.certificate, CA.certificate]);
  expect(users.map((user) => known.isSigned(user.certificate, CA.certificate))).toEqual([true, false, true, true]);
  expect(known.bytes).toBe(a.der.length + c.der.length + d.der.length);
});

test('one that is larger than the room for all is not kept', () => {
  const known = keeping([USER, CA], USER.der.length - 1);
  expect(known.bytes).toBe(0);
  expect(known.isSigned(USER.certificate, CA.certificate)).toBe(false);
});
