// Credentials that no server has seen: proxies, attribute certificates and certificates of users, made by who made the
// first ones. For benches, whose issuers are those of a demonstration.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { AttributeContent } from '../../server/authority/attributeCertificate/content.ts';
import { readCertificate } from '../../server/authority/attributeCertificate/read.ts';
import { type Sign, signerOf } from '../../server/authority/attributeCertificate/write.ts';
import type { DemonstrationHolders } from '../../server/authority/demonstration.ts';
import { type Issuance, issueCertificate, pemOf, proxyNameDer } from '../../server/authority/issuance/certificate.ts';
import { randomSerialNumber } from '../../server/authority/serialNumber.ts';
import { type Certificate, parseCertificate } from '../../server/authority/x509/certificate.ts';
import { RsaKeys } from './rsaKeys.ts';

/** What somebody sends to be authorised: chain (PEM) and attribute certificate (XML, or ''). */
export interface Credentials {
  readonly chain: string;
  readonly attributeCertificate: string;
}

/**
 * Whose credentials: of a user with roles at the site, or of one whose roles are mapped by an attribute certificate.
 */
export type Who = 'user' | 'visitor';

/**
 * How much of them is new. `proxy`: a proxy with its key, and the attribute certificate where there is one, as from a
 * user who comes again on another day. `user`: the user's certificate and key besides, as from one who comes for the
 * first time.
 */
export type CredentialFreshness = 'proxy' | 'user';

/**
 * Who issues, as texts that can be sent to another process: certificates in base64, keys in PEM; and what a visitor
 * has.
 */
export interface Issuers {
  readonly holders: Readonly<
    Record<keyof DemonstrationHolders, { readonly certificate: string; readonly key: string }>
  >;
  readonly attributeCertificate: string;
}

/** Issuers as texts. */
export function issuersOf(holders: DemonstrationHolders, attributeCertificate: string): Issuers {
  const textsOf = ({ certificate, key }: DemonstrationHolders['ca']): Issuers['holders']['ca'] => ({
    certificate: certificate.toString('base64'),
    key: key.export({ type: 'pkcs8', format: 'pem' }) as string,
  });
  const { ca, partner, user, visitor } = holders;
  return {
    holders: { ca: textsOf(ca), partner: textsOf(partner), user: textsOf(user), visitor: textsOf(visitor) },
    attributeCertificate,
  };
}

interface Holder {
  readonly certificate: Certificate;
  readonly key: KeyObject;
}

/** Makes credentials; no two have a certificate in common that is new in one of them. */
export class FreshCredentials {
  readonly #holders: Readonly<Record<keyof DemonstrationHolders, Holder>>;
  readonly #content: AttributeContent;
  readonly #sign: Sign;
  readonly #keys = new RsaKeys();

  constructor({ holders, attributeCertificate }: Issuers) {
    const holderOf = ({ certificate, key }: Issuers['holders']['ca']): Holder => ({
      certificate: parseCertificate(Buffer.from(certificate, 'base64')),
      key: createPrivateKey(key),
    });
    const { ca, partner, user, visitor } = holders;
    this.#holders = { ca: holderOf(ca), partner: holderOf(partner), user: holderOf(user), visitor: holderOf(visitor) };
    const reading = readCertificate(attributeCertificate);
    if (reading.kind === 'unreadable') throw new Error(`the attribute certificate of the visitor ${reading.reason}`);
    this.#content = reading.certificate.content;
    this.#sign = signerOf(this.#holders.partner);
  }

  /**
   * The next ones. Cost: a signature of an RSA key for each certificate that is new, and 1 ms for the key of a user.
   */
  next(who: Who, freshness: CredentialFreshness): Credentials {
    const known = this.#holders[who];
    const holder = freshness === 'user' ? this.#renewed(known) : known;
    const chain = pemOf(proxyOf(holder)) + pemOf(holder.certificate.der);
    // Hardly two texts alike, since hardly any begins in the second in which another does.
    const notBefore = Number(randomSerialNumber() % BigInt(this.#content.notBefore));
    return { chain, attributeCertificate: who === 'user' ? '' : this.#sign({ ...this.#content, notBefore }) };
  }

  /** Another certificate of the same name, for another key. */
  #renewed({ certificate }: Holder): Holder {
    const key = this.#keys.next();
    const { ca } = this.#holders;
    const subject = certificate.subject.der;
    const issued = issuedBy(ca, { kind: 'user', subject, publicKey: createPublicKey(key), like: certificate });
    return { certificate: parseCertificate(issued), key };
  }
}

function proxyOf(holder: Holder): Buffer {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { certificate } = holder;
  const subject = proxyNameDer(certificate.subject.der, String(randomSerialNumber()));
  return issuedBy(holder, { kind: 'proxy', subject, publicKey, like: certificate });
}

/** Valid as long as another one. */
function issuedBy(
  { certificate, key }: Holder,
  { like, ...wanted }: Pick<Issuance, 'kind' | 'subject' | 'publicKey'> & { readonly like: Certificate },
): Buffer {
  const { notBefore, notAfter } = like;
  const issuer = { name: certificate.subject.der, key };
  return issueCertificate({ ...wanted, issuer, serialNumber: randomSerialNumber(), notBefore, notAfter });
}
