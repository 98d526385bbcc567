// When the parts of a configuration expire: the authority's certificate, its CAs and their CRLs, with a note for the
// operator. Reads no clock and no file.
import {
  type Certificate,
  type Crl,
  makeCrlStore,
  isCa,
  isCurrent,
  mayBeUsedFor,
  printSubject,
} from '../x509/certificate.ts';
import { crlProblem, isSignedBy, isStrongEnough } from '../x509/revocation.ts';

export const EXPIRING = ['certificate', 'cas', 'crls'] as const;

export interface Expiry {
  readonly what: (typeof EXPIRING)[number];
  /** Seconds since 1970; 0 if there is no current CRL. */
  readonly at: number;
  /** A sentence without its full stop. */
  readonly note: string;
}

export interface ExpiringParts {
  readonly certificate: Certificate;
  /** End of validity of the certificate and its path, in seconds since 1970. */
  readonly notAfter: number;
  readonly anchors: readonly Certificate[];
  /** Undefined if revocation is not checked. */
  readonly crls: readonly Crl[] | undefined;
  /** Tolerance for all times. */
  readonly clockSkewSeconds: number;
  /** Whether weak signatures count. */
  readonly allowWeak: boolean;
}

interface ListTimes extends Pick<Crl, 'thisUpdate' | 'nextUpdate'> {
  readonly problem: string | undefined;
  readonly isOfCas: boolean;
}

/** The data from which expiries are computed. Excludes the entries of CRLs, of which there may be millions. */
export interface ExpirySource {
  readonly certificates: readonly Expiry[];
  readonly cas: readonly { readonly name: string; readonly lists: readonly ListTimes[] }[];
  readonly clockSkewSeconds: number;
}

/** Cost: one check per CA and one signature verification per CRL. */
export function makeExpirySource({
  certificate,
  notAfter,
  anchors,
  crls,
  clockSkewSeconds,
  allowWeak,
}: ExpiringParts): ExpirySource {
  const cas = anchors.filter(isCa);
  const all = makeCrlStore(crls ?? []);
  const note = `${firstToExpire(certificate, notAfter)} ${printSubject(certificate)} has expired: nobody believes what is issued`;
  return {
    certificates: [
      { what: 'certificate', at: notAfter, note },
      ...cas.map((ca): Expiry => ({ what: 'cas', at: ca.notAfter, note: expiredNote(ca) })),
    ],
    cas: (crls ? cas : []).map((ca) => {
      const signers = cas.filter(({ subject }) => subject.key === ca.subject.key);
      const lists = all.listByIssuer(ca.subject.key).map((crl): ListTimes => {
        const { thisUpdate, nextUpdate } = crl;
        return {
          thisUpdate,
          nextUpdate,
          problem: signedCrlProblem(crl, signers, allowWeak),
          isOfCas: crl.scope === 'cas',
        };
      });
      return { name: printSubject(ca), lists };
    }),
    clockSkewSeconds,
  };
}

/** Which ends first: the certificate of the authority or one above it. Continues with the authority's name. */
export function firstToExpire(certificate: Certificate, notAfter: number): string {
  return notAfter < certificate.notAfter ? 'what certified' : 'the certificate of';
}

/** The expiries at a time. The last of several CRLs of a CA counts. Cost: one check per CA and CRL. */
export function listExpiries({ certificates, cas, clockSkewSeconds }: ExpirySource, at: number): readonly Expiry[] {
  return [
    ...certificates,
    ...cas.map(({ name, lists }) => listExpiry(name, lists, (list) => isCurrent(list, at, clockSkewSeconds))),
  ];
}

/**
 * The expiry of a CA's CRLs: the latest end of its valid current ones. CRLs for users take precedence over those for
 * CAs only.
 */
function listExpiry(ca: string, lists: readonly ListTimes[], isNow: (list: ListTimes) => boolean): Expiry {
  const good = lists.filter(({ problem }) => problem === undefined);
  const ofUsers = good.filter(({ isOfCas }) => !isOfCas);
  const ends = (ofUsers.length > 0 ? ofUsers : good).filter(isNow).map(({ nextUpdate = 0 }) => nextUpdate);
  const problem = ends.length === 0 ? lists.find(isNow)?.problem : undefined;
  const reason = problem === undefined ? `there is no current CRL of ${ca}` : `the CRL of ${ca} ${problem}`;
  const note = `${reason}: nobody whom it certified gets in`;
  return { what: 'crls', at: ends.reduce((last, end) => Math.max(last, end), 0), note };
}

/** Why a CRL does not count. Other signers that a CA has certified are known only from requests. */
function signedCrlProblem(crl: Crl, signers: readonly Certificate[], allowWeak: boolean): string | undefined {
  const problem = crlProblem(crl, crl.scope === 'cas' ? 'cas' : 'users', allowWeak);
  const isSignedByOne = (candidates: readonly Certificate[]): boolean =>
    candidates.some((signer) => isSignedBy(crl, signer));
  if (problem !== undefined || isSignedByOne(signers.filter((signer) => isStrongEnough(signer, allowWeak))))
    return problem;
  if (isSignedByOne(signers)) return 'is signed by a key that is weak (allowWeak is off)';
  return signers.some((signer) => !mayBeUsedFor(signer, 'cRLSign'))
    ? 'is of a CA whose key usage excludes CRLs, or is not signed by it'
    : 'is not signed by a CA of that name here';
}

/** The earliest expiry of each kind, in seconds since 1970. Kinds without an expiry are missing. */
export function firstExpiries(expiries: readonly Expiry[]): Readonly<Partial<Record<Expiry['what'], number>>> {
  const firsts: Partial<Record<Expiry['what'], number>> = {};
  for (const { what, at } of expiries) firsts[what] = Math.min(firsts[what] ?? Infinity, at);
  return firsts;
}

export function expiredNote(ca: Certificate): string {
  return `the CA ${printSubject(ca)} has expired: nobody whom it certified gets in`;
}
