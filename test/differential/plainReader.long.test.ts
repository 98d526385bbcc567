// Two readers of XML, one tree: the quick one for plain texts beside saxes, on texts mutated and put together from a
// printed seed. A comment before a text keeps it from the quick reader and changes nothing.
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { readTree } from '../../server/authority/attributeCertificate/tree.ts';
import { signerOf } from '../../server/authority/attributeCertificate/write.ts';
import { nameDer } from '../../server/authority/issuance/certificate.ts';
import { readPlainTree } from '../../data/xml/plainReader.ts';
import { readXml } from '../../data/xml/reader.ts';
import { contentWith } from '../support/attributeCertificates.ts';
import { hostileEnvelope } from '../support/hostileEnvelopes.ts';
import { caOf, ecPair, holderOf, person } from '../support/pki.ts';
import { randomOf, type Random } from '../support/random.ts';

const SEED = 20_261_122;
const ROUNDS = 6000;
const ENVELOPES = 500_000;
const SIZE = { depth: 6, elements: 60, attributes: 3 };
const LIMITS = { depth: 32, elements: 20_000, attributes: 64, instructions: 0 };

const signer = holderOf('signer', nameDer(person('Signer')), ecPair(), caOf('CA'));
const GOOD = signerOf(signer)(contentWith({ roles: ['staff', 'a&b <c>', "d'e"] }));

const TAGS = [
  '<a',
  '<b>',
  '<c_1>',
  '</a>',
  '</b>',
  '</c_1>',
  '/>',
  '>',
  '<',
  '</',
  '<x/>',
  '<x y="z"/>',
  '<x:y/>',
  '<xmlns>',
];
const ATTRIBUTES = [' b="c"', ' b=""', " b='c'", ' b="<"', ' b="&lt;"', ' b="\n"', ' b = "c"', ' xml:b="c"'];
const DECLARATIONS = ['urn:x', '', ' urn:x ', 'http://www.w3.org/2000/xmlns/', 'http://www.w3.org/XML/1998/namespace'];
const BINDINGS = [
  ' xmlns:y="urn:y"',
  ' xmlns:y="urn:y"',
  ' xmlns="urn:x"',
  ' xmlns="urn:y"',
  "\n xmlns:y='urn:z'",
  ' xmlns=""',
];
const SET = [' b="c"', ' b=""', ' b=">"', " y:c='\"'", ' y:b="d"', ' xmlns="d"', ' z:b="c"', ' b="&lt;"', ' b="\n"'];
const CHARACTERS = [' ', '\n', '\t', '\r', '\0', '\x7f', 'ü', '\u{10ffff}', '\ufeff', '=', '"', "'", 'text'];
const REFERENCES = [
  '&',
  '&lt;',
  '&amp;',
  '&quot;',
  '&apos;',
  '&gt;',
  '&amp',
  '&amp;lt;',
  '&#x41;',
  '&x;',
  '&constructor;',
];
const MARKUP = ['<!---->', '<![CDATA[', ']]>', '<?x ?>', '<?xml version="1.0"?>', '<!DOCTYPE a>'];
const PIECES = [
  ...GOOD.split(/(?<=>)|(?=<)/),
  ...TAGS,
  ...ATTRIBUTES,
  ...DECLARATIONS.map((namespace) => ` xmlns="${namespace}"`),
  ' xmlns:y="urn:y"',
  " xmlns:y='urn:z'",
  ' xmlns:xml_="urn:y"',
  ' y:b="c" b="d"',
  '<y:a',
  '</y:a>',
  ...CHARACTERS,
  ...REFERENCES,
  ...MARKUP,
];

/** Small documents, most of them well-formed. */
function document(random: Random, depth = 0): string {
  const name = random.pick(['a', 'b', 'c_1', 'Signature', 'xml', 'xmlns', 'A9', 'y:a', '_.-']);
  const bound = depth === 0 && random.chance(0.9) ? ' xmlns:y="urn:y"' : '';
  const declared = random.chance(0.2) ? random.pick(BINDINGS) : bound;
  const attribute = random.chance(0.2) ? random.several(1, 3, () => random.pick(SET)).join('') : '';
  if (random.chance(0.2)) return `<${name}${declared}${attribute}/>`;
  const children = random.several(0, 4, () =>
    depth < SIZE.depth + 1 && random.chance(0.6)
      ? document(random, depth + 1)
      : random.pick(['t', ' ', '&lt;', '', '\n']),
  );
  return `<${name}${declared}${attribute}>${children.join('')}</${name}>`;
}

function mutated(text: string, random: Random): string {
  const [start, length] = [random.integer(0, text.length + 1), random.integer(0, 30)];
  return text.slice(0, start) + random.pick(PIECES) + text.slice(start + (random.chance(0.5) ? length : 0));
}

function drawn(random: Random): string {
  const text = random.pick([
    () => GOOD,
    () => document(random),
    () => `${random.pick(['', ' ', '\n', 't'])}${document(random)}${random.pick(['', ' ', '\n', 't', '<a/>'])}`,
    () => random.several(0, 30, () => random.pick(PIECES)).join(''),
  ])();
  return random.chance(0.5) ? mutated(text, random) : text;
}

test(`what the quick reader takes, saxes takes for the same tree (seed ${SEED})`, () => {
  const random = randomOf(SEED);
  let [fast, general] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const text = drawn(random);
    const plain = readPlainTree(text, LIMITS);
    const other = readXml(text, LIMITS);
    if (plain !== undefined) {
      expect(other, text).toEqual({ kind: 'read', root: plain });
      if (!text.startsWith('<?')) expect(readTree(text), text).toEqual(readTree(`<!---->${text}`));
      fast++;
    } else if (other.kind === 'read') general++;
  }
  // Each way is gone often enough to tell something; few that are well-formed are not plain.
  expect(fast).toBeGreaterThan(ROUNDS / 4);
  expect(general).toBeGreaterThan(ROUNDS / 50);
});

test('the quick reader takes what an authority writes, and both readers refuse by the same limits', () => {
  expect(readPlainTree(GOOD, LIMITS)).toBeDefined();
  const nested = (depth: number): string => '<a>'.repeat(depth) + '</a>'.repeat(depth);
  expect(readPlainTree(nested(SIZE.depth), SIZE)).toBeDefined();
  expect(readPlainTree(nested(SIZE.depth + 1), SIZE)).toBeUndefined();
  expect(readPlainTree(`<a>${'<b/>'.repeat(SIZE.elements - 1)}</a>`, SIZE)).toBeDefined();
  expect(readPlainTree(`<a>${'<b/>'.repeat(SIZE.elements)}</a>`, SIZE)).toBeUndefined();
  expect(readPlainTree('<a b="" c="" d=""/>', SIZE)).toBeDefined();
  expect(readPlainTree('<a b="" c="" d="" e=""/>', SIZE)).toBeUndefined();
  expect(readTree(nested(32)).kind).toBe('read');
  expect(readTree(nested(33))).toEqual({ kind: 'unreadable', reason: 'is nested deeper than 32 elements' });
});

test(`both readers agree on half a million hostile requests (seed ${SEED})`, () => {
  const random = randomOf(SEED);
  for (let i = 0; i < ENVELOPES; i++) {
    const text = hostileEnvelope(random).toString();
    const root = readPlainTree(text, LIMITS);
    // An assertion each would cost as much as the readers.
    if (root === undefined || isDeepStrictEqual(readXml(text, LIMITS), { kind: 'read', root })) continue;
    expect(readXml(text, LIMITS), `round ${i}: ${text}`).toEqual({ kind: 'read', root });
  }
});
