// Authorisation requests with real keys and certificates: which are granted, and that no trick with them works.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Authorise, makeAuthoriser } from '../../../../server/authority/authorise.ts';
import { nameDer, proxyNameDer } from '../../../../server/authority/issuance.ts';
import { loadedData, partnersCertificate, type TestSite, testSite } from '../../../support/authorities.ts';
import { judged, xmlsecVerdict } from '../../../support/attributeCertificates.ts';
import { hasProgram } from '../../../support/debian.ts';
import { AT, caOf, ecPair, type Holder, holderOf, person, proxyOf, rsaPair } from '../../../support/pki.ts';
import { someOf } from '../../../support/ring.ts';

let site: TestSite;
let authorise: Authorise;
let visitorProxy: string;

beforeAll(() => {
  site = testSite();
  authorise = makeAuthoriser(loadedData(site));
  visitorProxy = proxyOf(site.visitor).pem;
});
afterAll(() => site.remove());

/** The status, and the reason if there is one. */
function outcome(usrProxyCert: string, usrAttCert = '', at = AT): string {
  const { answer, record } = authorise({ usrProxyCert, usrAttCert }, at);
  expect(answer.statCode).toBe(record.status);
  expect(answer.attCert === '').toBe(record.status !== 'AccessGranted');
  expect(answer.errMsg === '').toBe(record.status === 'AccessGranted');
  if (answer.errMsg !== '') expect(answer.errMsg).toMatch(/^[A-Z].*\.$/);
  expect(answer.errMsg).not.toMatch(/BEGIN|\/tmp|\n|Error:/);
  return [record.status, record.reason].filter(Boolean).join(' ');
}

describe('a user of this site', () => {
  test.for(['proxy', 'limited-proxy', 'legacy-proxy', 'legacy-limited-proxy'] as const)(
    'with a %s gets an attribute certificate',
    (kind) => {
      const names = {
        proxy: '1',
        'limited-proxy': '1',
        'legacy-proxy': 'proxy',
        'legacy-limited-proxy': 'limited proxy',
      };
      const { pem } = proxyOf(site.staff, kind, names[kind]);
      const { answer, record } = authorise({ usrProxyCert: pem, usrAttCert: '' }, AT);
      expect(judged(answer.attCert)).toMatchObject({
        holder: '/O=Test/CN=Staff',
        issuer: '/O=Test/CN=Here Authority',
        issuerName: 'Here',
        roles: ['staff', 'reader'],
        provenance: 'original',
        issuerSerialNumber: String(site.site.certificate.serialNumber),
      });
      expect(record.proxy).toBe(/limited/i.test(kind) ? 'limited' : 'full');
    },
  );

  test('gets one with the bare certificate, and with the CA after it', () => {
    expect(outcome(site.staff.pem)).toBe('AccessGranted');
    expect(outcome(proxyOf(site.staff).pem + site.ca.pem)).toBe('AccessGranted');
  });

  test.skipIf(!hasProgram('xmlsec1'))('gets one that xmlsec1 verifies by the CA', () => {
    const { answer } = authorise({ usrProxyCert: site.staff.pem, usrAttCert: '' }, AT);
    expect(xmlsecVerdict(answer.attCert, site.ca.pem)).toBe('good');
  });

  test('is recorded under a new number each time, of up to 96 bits', () => {
    const numbers = Array.from(
      { length: 100 },
      () => authorise({ usrProxyCert: site.staff.pem, usrAttCert: '' }, AT).record.serialNumber,
    );
    expect(new Set(numbers).size).toBe(100);
    for (const number of numbers) expect(BigInt(number) > 0n && BigInt(number) < 1n << 96n).toBe(true);
  });

  test('is recorded with digests, and without any text of the request or the certificate', () => {
    const { record } = authorise(
      { usrProxyCert: site.staff.pem, usrAttCert: 'secret', id: 'c0ffee', peer: '192.0.2.1' },
      AT,
    );
    expect(record).toEqual({
      kind: 'authorisation',
      at: AT,
      status: 'AccessGranted',
      reason: '',
      requestId: 'c0ffee',
      peer: '192.0.2.1',
      holder: '/O=Test/CN=Staff',
      claimed: '',
      proxy: 'none',
      site: '',
      roles: ['staff', 'reader'],
      provenance: 'original',
      serialNumber: record.serialNumber,
      notAfter: AT + 28_800,
      issuedDigest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      chainDigest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      sentence: '',
    });
    expect(JSON.stringify(record)).not.toMatch(/BEGIN|<|secret/);
  });
});

describe('a user of a trusted host', () => {
  test('gets mapped roles', () => {
    const { answer } = authorise({ usrProxyCert: visitorProxy, usrAttCert: partnersCertificate(site) }, AT);
    expect(judged(answer.attCert)).toMatchObject({
      holder: '/O=Test/CN=Visitor',
      roles: ['reader'],
      provenance: 'mapped',
      notAfter: AT + 100,
    });
  });

  test('whose certificate has names in another order gets them too', () => {
    const text = partnersCertificate(site, { holder: '/CN=Visitor/O=Test', issuer: '/CN=Partner Authority/O=Test' });
    expect(outcome(visitorProxy, text)).toBe('AccessGranted');
  });

  test('cannot have mapped roles mapped again', () => {
    const { answer } = authorise({ usrProxyCert: visitorProxy, usrAttCert: partnersCertificate(site) }, AT);
    expect(outcome(visitorProxy, answer.attCert)).toBe('AccessError externalProvenance');
    expect(outcome(visitorProxy, partnersCertificate(site, { provenance: 'mapped' }))).toBe(
      'AccessError externalProvenance',
    );
  });
});

describe('a refused request', () => {
  const refusals: Record<string, () => readonly [chain: string, certificate: string, outcome: string, at?: number]> = {
    'a chain of another CA of the same name': () => {
      const rogue = holderOf('user', nameDer(person('Staff')), ecPair(), caOf('CA'));
      return [proxyOf(rogue).pem, '', 'AccessError userChain'];
    },
    'a proxy without its issuer': () => [
      proxyOf(site.staff).pem.split(/(?=-----BEGIN)/)[0]!,
      '',
      'AccessError userChain',
    ],
    'an expired proxy': () => [
      proxyOf(site.staff, 'proxy', '1', { notAfter: AT - 1 }).pem,
      '',
      'AccessError userChain',
    ],
    'a private key in the text': () => [
      site.staff.pem + (site.staff.key.export({ type: 'pkcs8', format: 'pem' }) as string),
      '',
      'AccessError userChain',
    ],
    'no chain': () => ['', '', 'AccessError userChain'],
    'an attribute certificate in place of a chain': () => [partnersCertificate(site), '', 'AccessError userChain'],
    'a name that reads as another': () => {
      const user = holderOf(
        'user',
        nameDer([
          ['O', 'Test'],
          ['CN', 'x/CN=Staff'],
        ]),
        ecPair(),
        site.ca,
      );
      return [user.pem, '', 'AccessError userName'];
    },
    'a proxy that takes the name of a user': () => {
      const proxy = holderOf('proxy', proxyNameDer(site.visitor.name, 'Staff'), ecPair(), site.visitor);
      return [proxy.pem + site.visitor.pem, '', 'AccessDenied unregistered'];
    },
    'an attribute certificate of an impostor with the name of the signer': () => {
      const impostor = holderOf('signer', site.partner.name, rsaPair(), caOf('CA'));
      return [visitorProxy, partnersCertificate(site, {}, impostor), 'AccessError externalSigner'];
    },
    'an attribute certificate of somebody else whom the CA knows': () => {
      const other = holderOf('signer', nameDer(person('Other')), rsaPair(), site.ca);
      return [
        visitorProxy,
        partnersCertificate(site, { issuer: '/O=Test/CN=Other' }, other),
        'AccessError externalHost',
      ];
    },
    'an attribute certificate that names the signer it does not have': () => {
      const other = holderOf('signer', nameDer(person('Other')), rsaPair(), site.ca);
      return [visitorProxy, partnersCertificate(site, {}, other), 'AccessError externalIssuer'];
    },
    'an attribute certificate that a user signed for itself': () => {
      const self = holderOf('user', nameDer(person('Visitor')), rsaPair(), site.ca);
      return [
        visitorProxy,
        partnersCertificate(site, { issuer: '/O=Test/CN=Visitor' }, self),
        'AccessError externalHost',
      ];
    },
    'an attribute certificate of an expired signer': () => {
      const old = holderOf('signer', site.partner.name, rsaPair(), site.ca, { notAfter: AT - 1 });
      return [visitorProxy, partnersCertificate(site, {}, old), 'AccessError externalSigner'];
    },
    'an attribute certificate signed by the CA itself': () => {
      const ca = { ...holderOf('ca', nameDer(person('RSA CA')), rsaPair(), site.ca) };
      return [visitorProxy, partnersCertificate(site, {}, ca), 'AccessError externalSigner'];
    },
    'an attribute certificate signed by a proxy': () => {
      const signer = holderOf('user', nameDer(person('Partner Authority')), ecPair(), site.ca);
      const proxy = holderOf('proxy', proxyNameDer(signer.name, '1'), rsaPair(), signer);
      return [visitorProxy, partnersCertificate(site, {}, proxy), 'AccessError externalSigner'];
    },
    'an attribute certificate played again when it has expired': () => [
      visitorProxy,
      partnersCertificate(site),
      'AccessError externalTime',
      AT + 101,
    ],
    'the attribute certificate of another user': () => [
      visitorProxy,
      partnersCertificate(site, { holder: '/O=Test/CN=Staff' }),
      'AccessError externalHolder',
    ],
    'an attribute certificate of another version': () => [
      visitorProxy,
      partnersCertificate(site).replace('>1.0<', '>1.1<'),
      'AccessError externalForm',
    ],
    'an attribute certificate with a DOCTYPE': () => [
      visitorProxy,
      `<!DOCTYPE x []>${partnersCertificate(site)}`,
      'AccessError externalForm',
    ],
    'an attribute certificate that is none': () => [visitorProxy, 'give me roles', 'AccessError externalForm'],
    'an attribute certificate with another role': () => [
      visitorProxy,
      partnersCertificate(site).replace('student', 'staff'),
      'AccessError externalSignature',
    ],
    'an attribute certificate with a certificate that is none': () => [
      visitorProxy,
      partnersCertificate(site).replace(
        /<X509Certificate>.*<\/X509Certificate>/,
        '<X509Certificate>MAA=</X509Certificate>',
      ),
      'AccessError externalSignature',
    ],
    'an attribute certificate signed by ECDSA, which no option allows': () => {
      const ec: Holder = holderOf('signer', site.partner.name, ecPair(), site.ca);
      return [visitorProxy, partnersCertificate(site, {}, ec), 'AccessError externalSignature'];
    },
  };
  test.for(Object.entries(refusals))('is refused: %s', ([, given]) => {
    const [chain, certificate, expected, at] = given();
    expect(outcome(chain, certificate, at)).toBe(expected);
  });

  test('is refused for an attribute certificate with a changed byte, whichever check notices', () => {
    const text = partnersCertificate(site);
    const bytes = Buffer.from(text);
    const granted = someOf([...bytes.keys()], 800).filter((i) => {
      const copy = Buffer.from(bytes);
      copy[i]! ^= 1;
      return (
        authorise({ usrProxyCert: visitorProxy, usrAttCert: copy.toString('latin1') }, AT).record.status ===
        'AccessGranted'
      );
    });
    expect(granted).toEqual([]);
  });
});

describe('the record of a decision', () => {
  const recordOf = (usrProxyCert: string, usrAttCert = '', at = AT) =>
    authorise({ usrProxyCert, usrAttCert, id: 'c0ffee' }, at).record;

  test('has the claimed holder of a refused chain, although it is unproven', () => {
    const rogue = holderOf('user', nameDer(person('Mrs\n"X')), ecPair(), caOf('CA'));
    const evil = holderOf('user', nameDer(person('x/CN=Staff')), ecPair(), site.ca);
    const expired = proxyOf(site.staff, 'proxy', '1', { notAfter: AT - 1 }).pem;
    expect([rogue.pem, evil.pem, expired, 'nothing'].map((chain) => recordOf(chain))).toMatchObject([
      { reason: 'userChain', holder: '', claimed: '/O=Test/CN=Mrs?"X', requestId: 'c0ffee' },
      { reason: 'userName', holder: '', claimed: '/O=Test/CN=x/CN=Staff' },
      { reason: 'userChain', holder: '', claimed: '/O=Test/CN=Staff/CN=1' },
      { reason: 'userChain', holder: '', claimed: '' },
    ]);
  });

  test('has no claimed holder once the chain proved the user', () => {
    expect(recordOf(visitorProxy)).toMatchObject({ holder: '/O=Test/CN=Visitor', claimed: '', site: '' });
  });

  test('has the attribute certificate that a grant is based on, and the one that did not help', () => {
    const other = holderOf('signer', nameDer(person('Other')), rsaPair(), site.ca);
    const long = partnersCertificate(site, { issuerName: 'x'.repeat(201) });
    const sent = [
      partnersCertificate(site),
      partnersCertificate(site).replace('student', 'staff'),
      partnersCertificate(site, { issuer: '/O=Test/CN=Other' }, other),
      partnersCertificate(site, {}, holderOf('signer', site.partner.name, rsaPair(), caOf('CA'))),
      long,
      'no certificate',
    ];
    expect(sent.map((usrAttCert) => recordOf(visitorProxy, usrAttCert))).toMatchObject([
      { status: 'AccessGranted', site: 'Partner', provenance: 'mapped' },
      { reason: 'externalSignature', site: 'Partner', holder: '/O=Test/CN=Visitor' },
      { reason: 'externalHost', site: 'Partner' },
      { reason: 'externalSigner', site: 'Partner' },
      { reason: 'untrustedHost', site: `${'x'.repeat(200)}...` },
      { reason: 'externalForm', site: '' },
    ]);
  });
});
