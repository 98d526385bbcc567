// The reader of attribute certificates on hostile texts: it never crashes, never hangs, never accepts more than was
// signed. Texts are mutations of a valid one, byte by byte too, and texts assembled from its pieces. Prints its seed.
import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { AttributeContent } from '../../server/authority/attributeCertificate/content.ts';
import { makeSigner } from '../../server/authority/attributeCertificate/write.ts';
import { nameDer } from '../../server/authority/issuance.ts';
import { contentBy, contentWith, judged } from '../support/attributeCertificates.ts';
import { caOf, ecPair, holderOf, person, rsaPair } from '../support/pki.ts';
import { type Random, randomOf } from '../support/random.ts';

const SEED = 20261121;
const RULES = { algorithms: ['rsa-sha256', 'ecdsa-sha256', 'rsa-sha1'], allowWeak: true } as const;
const signer = holderOf('signer', nameDer(person('Signer')), ecPair(), caOf('CA'));
const CONTENT = contentBy(signer, { roles: ['staff', 'a&b', 'ü'] });
const GOOD = makeSigner(signer)(CONTENT);

const PIECES = [
  ...GOOD.split(/(?<=>)|(?=<)/),
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<?x ?>',
  '<!DOCTYPE a [',
  ']>',
  '&',
  '&#x0;',
  '&#xD800;',
  '&lt;',
  '\0',
  '\ud800',
  '<a',
  ' b="c"',
  ' xmlns="urn:x"',
  ' xmlns:y="urn:y"',
  '<y:z/>',
  '/>',
  '"',
  "'",
  ' ',
  '\r',
  '\ufeff',
  '\ufffe',
  '\u{10ffff}',
];

/** A text that is almost valid. */
function mutated(random: Random): string {
  let text = GOOD;
  for (let times = random.integer(1, 4); times > 0; times--) {
    const [start, length] = [random.integer(0, text.length), random.integer(0, 40)];
    const other = random.integer(0, text.length);
    const put = random.pick([
      () => '',
      () => random.pick(PIECES),
      () => String.fromCharCode(random.integer(0, 0x250)),
      () => text.slice(start, start + length).repeat(2),
      () => text.slice(other, other + random.integer(1, 400)),
    ]);
    text = text.slice(0, start) + put() + text.slice(start + (random.chance(0.5) ? length : 0));
  }
  return text;
}

describe(`the reader of attribute certificates on hostile texts (seed ${SEED})`, () => {
  test('refuses an almost valid certificate with a reason, or returns exactly what was signed', () => {
    const random = randomOf(SEED);
    let accepted = 0;
    for (let i = 0; i < 4000; i++) {
      const verdict = judged(mutated(random), RULES);
      if (typeof verdict !== 'string') {
        expect(verdict).toEqual(CONTENT);
        accepted++;
      } else expect(verdict).toMatch(/^[a-z][^\n]{3,200}$/);
    }
    // White space in base64 and comments may appear: the mutations are close enough to a valid text to test something.
    expect(accepted).toBeLessThan(400);
  });

  test('refuses texts assembled from its pieces with a reason', () => {
    const random = randomOf(SEED + 1);
    for (let i = 0; i < 4000; i++) {
      expect(judged(random.several(0, 60, () => random.pick(PIECES)).join(''), RULES)).toMatch(/^[a-z][^\n]{3,200}$/);
    }
  });

  test('takes far less than a hundred times as long for ten times the length, whatever is repeated', () => {
    const work = (length: number): number => {
      const before = process.cpuUsage();
      for (const piece of PIECES) {
        const text = piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
        expect(judged(`<a>${text}`, RULES)).toBeTypeOf('string');
      }
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    work(20_000);
    expect(work(200_000) / work(20_000)).toBeLessThan(40);
  });
});

describe('one changed byte of an attribute certificate', () => {
  const ca = caOf('CA');
  const byRsa = holderOf('signer', nameDer(person('Signer')), rsaPair(), ca);
  const text = makeSigner(byRsa)(contentWith());
  const bytes = Buffer.from(text);
  const changed = (at: number, byte: number): string => {
    const copy = Buffer.from(bytes);
    copy[at] = byte;
    return copy.toString('latin1');
  };

  /** Valid only if the carried certificate is still what the CA signed. */
  const judgedWithin = (text: string): AttributeContent | string => {
    const der = Buffer.from(/<X509Certificate>(.*)<\/X509Certificate>/.exec(text)?.[1] ?? '', 'base64');
    const verdict = judged(text);
    if (typeof verdict === 'string') return verdict;
    return new X509Certificate(der).verify(ca.certificate.publicKey!) ? verdict : 'carries a certificate of nobody';
  };

  test('is detected everywhere: the lowest bit of every byte in turn', () => {
    const unnoticed = [...bytes.keys()].filter((at) => typeof judgedWithin(changed(at, bytes[at]! ^ 1)) !== 'string');
    expect(unnoticed).toEqual([]);
  });

  test('is detected, or means the same content: any byte for any other', () => {
    const random = randomOf(20260101);
    for (let i = 0; i < 3000; i++) {
      const at = random.integer(0, bytes.length);
      const verdict = judgedWithin(changed(at, random.integer(0, 256)));
      if (typeof verdict !== 'string') expect(verdict).toEqual(contentBy(byRsa));
    }
  });
});
