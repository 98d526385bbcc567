// Namespaces and names so long that all of them collide in V8, inside an attribute certificate: no reader looks one up
// in a Set or Map, which would compare it with all others.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { SaxesParser } from 'saxes';
import { readTree } from '../../server/authority/attributeCertificate/content.ts';
import { makeSigner } from '../../server/authority/attributeCertificate/write.ts';
import { nameDer } from '../../server/authority/issuance.ts';
import { contentBy } from '../support/attributeCertificates.ts';
import { caOf, ecPair, holderOf, person } from '../support/pki.ts';

/** V8 hashes longer strings by their length alone. */
const HASHED_CHARACTERS_MAX = 16_383;
const COLLECTIONS = [
  [Set.prototype, ['has', 'add', 'delete']],
  [Map.prototype, ['has', 'get', 'set', 'delete']],
] as const;

const signer = holderOf('signer', nameDer(person('Signer')), ecPair(), caOf('CA'));
const GOOD = makeSigner(signer)(contentBy(signer));

/** A certificate with attributes that share a namespace, and a mark that only the strict reader accepts. */
function withNamespace(uri: string, attributes: number, isPlain: boolean): string {
  const shared = Array.from({ length: attributes }, (_, i) => ` n:a${i}="${i}"`).join('');
  const elements = `<n:x${shared}/>`.repeat(20);
  const root = `<attributeCertificate xmlns:n="${uri}"${shared}>${isPlain ? '' : '<!-- -->'}`;
  return GOOD.replace(/<attributeCertificate[^>]*>/, () => root + elements);
}

/** The number of lookups in collections with colliding strings while a text is read. */
function collidingKeys(read: () => unknown): number {
  let found = 0;
  for (const [prototype, names] of COLLECTIONS) {
    for (const name of names) {
      const original = (prototype as unknown as Record<string, (...keys: unknown[]) => unknown>)[name]!;
      vi.spyOn(prototype as unknown as Record<string, () => unknown>, name).mockImplementation(function (
        this: unknown,
        ...keys: unknown[]
      ) {
        if (typeof keys[0] === 'string' && keys[0].length > HASHED_CHARACTERS_MAX) found++;
        return original.apply(this, keys);
      });
    }
  }
  read();
  vi.restoreAllMocks();
  return found;
}

afterEach(() => void vi.restoreAllMocks());

const LENGTHS = [1025, 16_380, 16_384, 100_000];

describe.each([
  ['plain', true],
  ['not plain', false],
])('the reader of a certificate that is %s', (_, isPlain) => {
  test.each(LENGTHS)('refuses a namespace of %i characters by its limit, however many names share it', (length) => {
    for (const attributes of [0, 1, 2, 60]) {
      const text = withNamespace('u:'.padEnd(length, 'x'), attributes, isPlain);
      let reading: unknown;
      expect(collidingKeys(() => (reading = readTree(text)))).toBe(0);
      expect(reading).toEqual({
        kind: 'unreadable',
        reason: 'has a name or namespace of more than 1,024 characters, or an attribute of more than 8,192',
      });
    }
  });

  test('refuses a prefix, a name or a value of such a length', () => {
    const long = 'x'.repeat(16_384);
    for (const tag of [
      `<${long}/>`,
      `<${long}:a/>`,
      `<a ${long}="1"/>`,
      `<a b="${long}"/>`,
      `<a xmlns:${long}="u:1"/>`,
    ]) {
      const text = GOOD.replace('</attributeCertificate>', `${isPlain ? '' : '<!-- -->'}${tag}</attributeCertificate>`);
      expect(collidingKeys(() => expect(readTree(text)).toMatchObject({ kind: 'unreadable' }))).toBe(0);
    }
  });
});

test('counts lookups of colliding keys in a reader without the limit', () => {
  const text = withNamespace('u:'.padEnd(16_384, 'x'), 3, true);
  const parser = new SaxesParser({ xmlns: true });
  expect(collidingKeys(() => parser.write(text))).toBeGreaterThan(0);
});
