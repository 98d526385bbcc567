// Attribute certificates: other implementations verify what the product writes, reading returns what was signed, and no
// byte can be changed, moved, wrapped or hidden.
import { createPublicKey } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contentXml, parseTimeFields, timeFields } from '../../../../server/authority/attributeCertificate/content.ts';
import { decodeFileText } from '../../../../server/authority/attributeCertificate/read.ts';
import { makeSigner } from '../../../../server/authority/attributeCertificate/write.ts';
import { nameDer } from '../../../../server/authority/issuance.ts';
import {
  contentBy,
  contentWith,
  judged,
  templateOf,
  xmlCryptoVerdict,
  xmlsecSigned,
  xmlsecVerdict,
} from '../../../support/attributeCertificates.ts';
import { hasProgram } from '../../../support/debian.ts';
import { AT, caOf, ecPair, holderOf, person, rsaPair } from '../../../support/pki.ts';
import { someOf, times } from '../../../support/ring.ts';

const ca = caOf('CA, of "all" \\ <&>; + #1');
const signer = holderOf('signer', nameDer([['C', 'GB'], ...person('Signer ')]), rsaPair(), ca);
const ecSigner = holderOf('signer', nameDer(person('Zoë; the <signer>')), ecPair(), ca);
const sign = makeSigner(signer);
const ALL = { algorithms: ['rsa-sha256', 'ecdsa-sha256', 'rsa-sha1'], allowWeak: false } as const;

/** Characters that XML escapes, normalises or forbids unescaped, and some that take more than a byte. */
const AWKWARD = ['&', '<', '>', '"', "'", ']]>', '\r', '\n', '\t', ' ', 'é', '\u2028', '\u{1f512}', '&amp;', '\u0085'];
const TEXT = fc.oneof(
  fc.string({ unit: fc.constantFrom(...AWKWARD, 'a', 'b'), minLength: 1, maxLength: 12 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter((text) => !/[\p{Cc}\ufffe\uffff]/u.test(text)),
);
const CONTENT = fc.record({
  holder: TEXT,
  issuer: TEXT,
  issuerName: TEXT,
  notBefore: fc.integer({ min: 0, max: 4_000_000_000 }),
  notAfter: fc.integer({ min: 0, max: 4_000_000_000 }),
  roles: fc.array(TEXT, { minLength: 1, maxLength: 5 }),
  provenance: fc.constantFrom('original' as const, 'mapped' as const),
});

describe('an issued attribute certificate', () => {
  test.for([
    ['RSA', signer],
    ['P-256', ecSigner],
  ] as const)(
    'with a key of %s is read back as intended, and verified by xml-crypto if it knows the algorithm',
    ([, by]) => {
      fc.assert(
        fc.property(CONTENT, (content) => {
          const text = makeSigner(by)(content);
          expect(judged(text, ALL)).toEqual(contentBy(by, content));
          // xml-crypto's parser takes NEL and LINE SEPARATOR for line ends, which they are in XML 1.1 only.
          if (by === signer && !/[\u0085\u2028]/.test(text)) expect(xmlCryptoVerdict(text, by.pem)).toBe(true);
        }),
        { numRuns: times(25, 60) },
      );
    },
  );

  test.skipIf(!hasProgram('xmlsec1')).for([
    ['RSA', signer, someOf(AWKWARD, 3)],
    ['P-256', ecSigner, someOf(AWKWARD, 1)],
  ] as const)('with a key of %s is verified by xmlsec1, whatever its texts contain', ([, by, texts]) => {
    for (const role of [...texts, 'staff']) {
      const content = contentWith({ roles: [role, `a${role}b`], holder: `/O=Test/CN=${role}`, issuerName: role });
      expect(xmlsecVerdict(makeSigner(by)(content), ca.pem)).toBe('good');
    }
  });

  test.skipIf(!hasProgram('xmlsec1'))('is refused by xmlsec1 once a role is changed', () => {
    expect(xmlsecVerdict(sign(contentWith()).replace('staff', 'stafg'), ca.pem)).not.toBe('good');
  });

  test('is one line that begins and ends with the root element', () => {
    expect(sign(contentWith())).toMatch(/^<attributeCertificate><acInfo>.*<\/attributeCertificate>$/);
  });
});

const KEY = signer.key.export({ type: 'pkcs8', format: 'pem' }) as string;
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const INCLUSIVE = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';

describe.skipIf(!hasProgram('xmlsec1'))('an attribute certificate signed by xmlsec1', () => {
  test.for([EXCLUSIVE, INCLUSIVE])('is read, pretty-printed and with a prefix, canonicalised by %s', (c14n) => {
    expect(judged(xmlsecSigned(templateOf('staff', c14n), KEY, signer.pem))).toEqual(contentWith({ roles: ['staff'] }));
  });

  test.for([
    ['staff<!-- -->member', 'staffmember'],
    ['staff<!---->', 'staff'],
    ['<!--x-->staff<!--y--> <!--z-->', 'staff '],
    ['<![CDATA[staff]]>&amp;<![CDATA[<member>]]>', 'staff&<member>'],
    ['st&#x61;ff&#13;', 'staff\r'],
  ])('has the whole text of a role, whatever it contains: %s is %j', ([written, role]) => {
    expect(judged(xmlsecSigned(templateOf(written!, EXCLUSIVE), KEY, signer.pem))).toEqual(
      contentWith({ roles: [role!] }),
    );
  });

  test('is refused if it is signed with SHA-1, unless an option allows it', () => {
    const text = xmlsecSigned(
      templateOf('staff', EXCLUSIVE, 'http://www.w3.org/2000/09/xmldsig#rsa-sha1'),
      KEY,
      signer.pem,
    );
    expect(judged(text)).toBe('is signed with rsa-sha1, which is not accepted here');
    expect(judged(text, ALL)).toEqual(contentWith({ roles: ['staff'] }));
  });

  test('is refused if its canonicalisation includes comments', () => {
    expect(judged(xmlsecSigned(templateOf('a<!-- -->b', `${EXCLUSIVE}WithComments`), KEY, signer.pem))).toBe(
      'has a canonicalisation that is not accepted',
    );
  });
});

const GOOD = sign(contentWith());
const [, ACINFO, SIGNATURE] =
  /^<attributeCertificate>(<acInfo>.*<\/acInfo>)(<Signature .*<\/Signature>)<\/attributeCertificate>$/.exec(GOOD)!;
const EVIL = contentXml(contentWith({ roles: ['root'] }));

describe('a document that wraps, repeats or moves the signed part', () => {
  test.for(
    Object.entries({
      'another content first': `<attributeCertificate>${EVIL}${ACINFO}${SIGNATURE}</attributeCertificate>`,
      'another content behind': `<attributeCertificate>${ACINFO}${EVIL}${SIGNATURE}</attributeCertificate>`,
      'another content behind the signature': `<attributeCertificate>${ACINFO}${SIGNATURE}${EVIL}</attributeCertificate>`,
      'another content in place of the one signed': `<attributeCertificate>${EVIL}${SIGNATURE}</attributeCertificate>`,
      'the whole inside another': `<attributeCertificate>${EVIL}${GOOD}</attributeCertificate>`,
      'the whole inside the signature of another': GOOD.replace('<KeyInfo>', `<Object>${GOOD}</Object><KeyInfo>`),
      'the signature inside the content': `<attributeCertificate>${ACINFO!.replace('</acInfo>', `${SIGNATURE}</acInfo>`)}</attributeCertificate>`,
      'the signature before the content': `<attributeCertificate>${SIGNATURE}${ACINFO}</attributeCertificate>`,
      'two signatures': `<attributeCertificate>${ACINFO}${SIGNATURE}${SIGNATURE}</attributeCertificate>`,
      'no signature': `<attributeCertificate>${ACINFO}</attributeCertificate>`,
      'an object in the signature': GOOD.replace('</Signature>', `<Object>${EVIL}</Object></Signature>`),
      'a content with a namespace': GOOD.replace('<acInfo>', '<acInfo xmlns="urn:x">'),
      'a content with an attribute': GOOD.replace('<acInfo>', '<acInfo Id="x">'),
      'a content with a prefix': GOOD.replace('<attributeCertificate>', '<attributeCertificate xmlns:x="urn:x">'),
      'a reference by id': GOOD.replace('URI=""', 'URI="#x"').replace('<acInfo>', '<acInfo Id="x">'),
      'a reference by pointer': GOOD.replace('URI=""', 'URI="#xpointer(/)"'),
      'a reference to elsewhere': GOOD.replace('URI=""', 'URI="https://example.org/"'),
      'a reference without address': GOOD.replace(' URI=""', ''),
      'two references': GOOD.replace(/<Reference .*<\/Reference>/, '$&$&'),
      'no transforms': GOOD.replace(/<Transforms>.*<\/Transforms>/, ''),
      'no enveloped transform': GOOD.replace(/<Transform [^>]*enveloped-signature"><\/Transform>/, ''),
      'transforms in another order': GOOD.replace(
        /(<Transform [^>]*><\/Transform>)(<Transform [^>]*><\/Transform>)/,
        '$2$1',
      ),
      'a third transform': GOOD.replace(/<Transform [^>]*enveloped-signature"><\/Transform>/, '$&$&'),
      'an XPath transform': GOOD.replace(
        /<Transform [^>]*exc-c14n#"><\/Transform>/,
        '<Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><XPath>not(//role)</XPath></Transform>',
      ),
      'an XSLT transform': GOOD.replace(
        'http://www.w3.org/2001/10/xml-exc-c14n#"></Transform>',
        'http://www.w3.org/TR/1999/REC-xslt-19991116"></Transform>',
      ),
      'prefixes that canonicalisation includes': GOOD.replace(
        /(<Transform [^>]*exc-c14n#">)/,
        '$1<InclusiveNamespaces xmlns="http://www.w3.org/2001/10/xml-exc-c14n#" PrefixList="x"></InclusiveNamespaces>',
      ),
      'an element of another namespace in the signature': GOOD.replace(
        '<SignatureValue>',
        '<SignatureValue xmlns="urn:x">',
      ),
      'a second certificate': GOOD.replace(/<X509Certificate>.*<\/X509Certificate>/, '$&$&'),
      'a bare key beside the certificate': GOOD.replace('<X509Data>', '<KeyValue></KeyValue><X509Data>'),
      'no certificate': GOOD.replace(/<X509Certificate>.*<\/X509Certificate>/, ''),
      'a role more, outside the set': GOOD.replace('</attributes>', '<role><name>root</name></role></attributes>'),
      'an element in a role': GOOD.replace('staff', 'st<b>a</b>ff'),
      'an element twice': GOOD.replace(/<holder>.*<\/holder>/, '$&$&'),
      'text between elements': GOOD.replace('<roleSet>', 'x<roleSet>'),
      'another root': GOOD.replaceAll('attributeCertificate>', 'AttributeCertificate>'),
      'a processing instruction': GOOD.replace('<acInfo>', '<acInfo><?x y?>'),
      'a version of its own': sign(contentWith()).replace('1.0', '2.0'),
    }),
  )('is refused: %s', ([, text]) => {
    expect(text).not.toBe(GOOD);
    expect(judged(text)).toBeTypeOf('string');
  });
});

test.each(['CanonicalizationMethod', 'SignatureMethod', 'DigestMethod', 'Transform'])(
  'refuses a %s of another namespace before it checks the signature',
  (name) => {
    const other = GOOD.replace(`<${name} `, `<${name} xmlns="urn:x" `);
    expect(judged(other)).toMatch(new RegExp(`has a ${name} that is not plain`));
  },
);

describe('a document that attacks the parser', () => {
  const laughs = Array.from({ length: 10 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('');
  test.for(
    Object.entries({
      'an empty DOCTYPE': `<!DOCTYPE attributeCertificate>${GOOD}`,
      'an entity': `<!DOCTYPE x [<!ENTITY r "root">]>${GOOD.replace('staff', '&r;')}`,
      'entities of entities': `<!DOCTYPE x [<!ENTITY l0 "lol">${laughs}]>${GOOD.replace('staff', '&l10;')}`,
      'an entity from a file': `<!DOCTYPE x [<!ENTITY r SYSTEM "file:///etc/passwd">]>${GOOD.replace('staff', '&r;')}`,
      'a DOCTYPE from elsewhere': `<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd">${GOOD}`,
      'an undeclared entity': GOOD.replace('staff', '&r;'),
      'a lone surrogate': GOOD.replace('staff', 'st\ud800ff'),
      'a reference to a character that is none': GOOD.replace('staff', '&#0;'),
      'XML 1.1': `<?xml version="1.1"?>${GOOD}`,
      'depth without end': '<a>'.repeat(100_000),
      'more depth than allowed': `${'<a>'.repeat(33)}${'</a>'.repeat(33)}`,
      'more elements than allowed': `<a>${'<b/>'.repeat(20_001)}</a>`,
      'an element with many attributes': `<a ${Array.from({ length: 10_000 }, (_, i) => `a${i}=""`).join(' ')}/>`,
      'more bytes than allowed': `<a>${'x'.repeat(300_000)}</a>`,
      nothing: '',
      blanks: ' \n ',
      'no XML': 'AccessGranted',
      'half a certificate': GOOD.slice(0, GOOD.length >> 1),
      'a certificate and more': `${GOOD}${GOOD}`,
    }),
  )('is refused at once and without fetching anything: %s', ([, text]) => {
    expect(judged(text)).toBeTypeOf('string');
  });
});

describe('the signature of an attribute certificate', () => {
  const swap = (from: string, to: string): string => GOOD.replace(from, to);
  const certificateOf = (pem: string): string => pem.replace(/-----.*-----|\s/g, '');
  const impostor = holderOf('signer', signer.name, rsaPair(), caOf('Another'));
  const withCertificate = (text: string, pem: string): string =>
    text
      .replace(/<X509Certificate>.*<\/X509Certificate>/, `<X509Certificate>${certificateOf(pem)}</X509Certificate>`)
      .replace(/<X509SubjectName>.*<\/X509IssuerSerial>/, '');

  test('is refused for the certificate of another holder', () => {
    expect(judged(withCertificate(GOOD, impostor.pem))).toBe(
      'has a signature that is not of the certificate it carries',
    );
  });
  test('is refused for an EC certificate under an RSA signature', () => {
    expect(judged(withCertificate(GOOD, ecSigner.pem), ALL)).toBe('is signed by an algorithm that is not of its key');
  });
  test('is refused for an RSA certificate under an ECDSA signature', () => {
    expect(judged(withCertificate(makeSigner(ecSigner)(contentWith()), signer.pem), ALL)).toBe(
      'is signed by an algorithm that is not of its key',
    );
  });
  test('is refused for ECDSA if only RSA is accepted', () => {
    expect(judged(makeSigner(ecSigner)(contentWith()))).toBe('is signed with ecdsa-sha256, which is not accepted here');
  });
  test('is refused for another curve', () => {
    const other = holderOf('signer', nameDer(person('P-384')), ecPair('P-384'), ca);
    expect(judged(makeSigner(other)(contentWith()), ALL)).toBe('is signed by a key of another curve than P-256');
  });
  test('is refused for a short RSA key, unless weak ones are allowed', () => {
    const weak = holderOf('signer', nameDer(person('Weak')), rsaPair(1024), ca);
    const text = makeSigner(weak)(contentWith());
    expect(judged(text)).toBe('is signed by an RSA key under 2048 bits');
    expect(judged(text, { ...ALL, allowWeak: true })).toEqual(contentBy(weak));
  });
  test('is refused for an unusable key, before it is tried', () => {
    const [n, e] = [Buffer.alloc(256, 0xff), Buffer.alloc(8, 0xff)].map((bytes) => bytes.toString('base64url'));
    const publicKey = createPublicKey({ key: { kty: 'RSA', n: n!, e: e! }, format: 'jwk' });
    const odd = holderOf('signer', nameDer(person('Odd')), { ...rsaPair(), publicKey }, ca);
    expect(judged(withCertificate(GOOD, odd.pem), ALL)).toBe('is signed by a key that is not supported');
  });
  test.each([
    ['in quotes', '"Signer "'],
    ['as the DER of a string', `#0c07${Buffer.from('Signer ').toString('hex')}`],
  ])('is accepted with names of the embedded certificate, %s', (_, written) => {
    const text = GOOD.replace('<X509SubjectName>CN=Signer\\ ,', `<X509SubjectName>OID.2.5.4.3=${written},`);
    expect(text).not.toBe(GOOD);
    expect(judged(text)).toEqual(judged(GOOD));
  });
  test('is refused for names of another certificate than the embedded one', () => {
    for (const [from, to] of [
      ['<X509SubjectName>CN=S', '<X509SubjectName>CN=T'],
      ['<X509SerialNumber>', '<X509SerialNumber>1'],
      ['<X509IssuerName>CN=CA', '<X509IssuerName>CN=CB'],
    ] as const) {
      expect(judged(swap(from, to))).toBe('names another certificate than the one it carries');
    }
  });
  test.for([
    'http://www.w3.org/2000/09/xmldsig#hmac-sha1',
    'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256',
    'http://www.w3.org/2000/09/xmldsig#dsa-sha1',
    'http://www.w3.org/2001/04/xmldsig-more#rsa-md5',
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
    'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
    '',
  ])('is refused for the algorithm %j', (uri) => {
    expect(judged(swap('http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', uri), ALL)).toBe(
      'has an unknown signature algorithm',
    );
  });
  test.for(['http://www.w3.org/2000/09/xmldsig#sha1', 'http://www.w3.org/2001/04/xmldsig-more#md5', ''])(
    'is refused for the digest %j under RSA-SHA256',
    (uri) => {
      expect(judged(swap('http://www.w3.org/2001/04/xmlenc#sha256', uri), ALL)).toBe(
        'has a digest that is not accepted',
      );
    },
  );
  test('is refused if it is empty, short, or spelled in two ways', () => {
    for (const value of ['', 'AA==', 'AB==']) {
      expect(
        judged(GOOD.replace(/<SignatureValue>.*<\/SignatureValue>/, `<SignatureValue>${value}</SignatureValue>`)),
      ).toBeTypeOf('string');
    }
  });
});

test('accepts blanks around a file, and refuses one that exceeds any text', () => {
  const text = GOOD.trim();
  expect(decodeFileText(Buffer.from(`\uFEFF\n ${text}${' '.repeat(1000)}`))).toBe(text);
  for (const end of ['', '<'])
    expect(judged(decodeFileText(Buffer.from(text + ' '.repeat(2 ** 20) + end)), ALL)).toBe(
      'is longer than 262144 bytes',
    );
  expect(judged(decodeFileText(new Uint8Array(2 ** 29)), ALL)).toBe('is longer than 262144 bytes');
});

test('reads times as exact UTC, and refuses days that the calendar does not have', () => {
  expect(timeFields(AT)).toBe('2030 03 17 17 46 40');
  expect(parseTimeFields('2030 03 17 17 46 40')).toBe(AT);
  for (const text of [
    '2030 02 30 00 00 00',
    '2030 13 01 00 00 00',
    '2030 01 01 24 00 00',
    '2030-01-01 00:00:00',
    '30 01 01 00 00 00',
    '',
  ]) {
    expect(parseTimeFields(text)).toBeUndefined();
  }
});
