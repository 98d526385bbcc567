// When what a configuration rests on runs out: the authority's certificate, its CAs, their CRLs; and what an operator
// is told then. Pure: reads no clock and no file.
import {
  type Certificate,
  type Crl,
  crlStoreOf,
  isCa,
  isCurrent,
  mayBeUsedFor,
  shownSubject,
} from '../x509/certificate.ts';
import { crlProblem, isSignedBy, isStrongEnough } from '../x509/revocation.ts';

export const EXPIRING = ['certificate', 'cas', 'crls'] as const;

/** `at` is in seconds since 1970; 0 if there is no current CRL. `note` is a sentence without its full stop. */
export interface Expiry {
  readonly what: (typeof EXPIRING)[number];
  readonly at: number;
  readonly note: string;
}

/**
 * What was read; the authority's certificate and what it rests on is valid until `notAfter`, in seconds since 1970;
 * `crls` is undefined where revocation is not checked. Times are judged give or take the skew; a weak
 * signature counts where that is allowed.
 */
export interface ExpiringParts {
  readonly certificate: Certificate;
  readonly notAfter: number;
  readonly anchors: readonly Certificate[];
  readonly crls: readonly Crl[] | undefined;
  readonly clockSkewSeconds: number;
  readonly allowWeak: boolean;
}

interface ListTimes extends Pick<Crl, 'thisUpdate' | 'nextUpdate'> {
  readonly problem: string | undefined;
  readonly isOfCas: boolean;
}

/** What each expiry is computed from. It has no entries of CRLs, of which there may be millions. */
export interface ExpirySource {
  readonly certificates: readonly Expiry[];
  readonly cas: readonly { readonly name: string; readonly lists: readonly ListTimes[] }[];
  readonly clockSkewSeconds: number;
}

/** From what was read. Cost: a look at every CA, and one verification for every CRL. */
export function expirySourceOf({
  certificate,
  notAfter,
  anchors,
  crls,
  clockSkewSeconds,
  allowWeak,
}: ExpiringParts): ExpirySource {
  const cas = anchors.filter(isCa);
  const all = crlStoreOf(crls ?? []);
  const own = `${endingFirst(certificate, notAfter)} ${shownSubject(certificate)} has expired: nobody believes what is issued`;
  return {
    certificates: [
      { what: 'certificate', at: notAfter, note: own },
      ...cas.map((ca): Expiry => ({ what: 'cas', at: ca.notAfter, note: expiredNote(ca) })),
    ],
    cas: (crls ? cas : []).map((ca) => {
      const signers = cas.filter(({ subject }) => subject.key === ca.subject.key);
      const lists = all.of(ca.subject.key).map((crl): ListTimes => {
        const { thisUpdate, nextUpdate } = crl;
        return { thisUpdate, nextUpdate, problem: problemOf(crl, signers, allowWeak), isOfCas: crl.scope === 'cas' };
      });
      return { name: shownSubject(ca), lists };
    }),
    clockSkewSeconds,
  };
}

/** What ends first, before the name of the authority: its own certificate, or what certified it. */
export function endingFirst(certificate: Certificate, notAfter: number): string {
  return notAfter < certificate.notAfter ? 'what certified' : 'the certificate of';
}

/** Of several CRLs of one CA the last counts. Cost: a look at every CA and CRL. */
export function expiriesOf({ certificates, cas, clockSkewSeconds }: ExpirySource, at: number): readonly Expiry[] {
  return [
    ...certificates,
    ...cas.map(({ name, lists }) => listExpiry(name, lists, (list) => isCurrent(list, at, clockSkewSeconds))),
  ];
}

/**
 * Of a CA: when the last runs out of its current CRLs without a problem, of those for users where it has some; where
 * each has one, that of the first.
 */
function listExpiry(ca: string, lists: readonly ListTimes[], isNow: (list: ListTimes) => boolean): Expiry {
  const good = lists.filter(({ problem }) => problem === undefined);
  const ofUsers = good.filter(({ isOfCas }) => !isOfCas);
  const ends = (ofUsers.length > 0 ? ofUsers : good).filter(isNow).map(({ nextUpdate = 0 }) => nextUpdate);
  const problem = ends.length === 0 ? lists.find(isNow)?.problem : undefined;
  const why = problem === undefined ? `there is no current CRL of ${ca}` : `the CRL of ${ca} ${problem}`;
  const note = `${why}: nobody whom it certified gets in`;
  return { what: 'crls', at: ends.reduce((last, end) => Math.max(last, end), 0), note };
}

/** What keeps a CRL from saying something. Whom else a CA lets sign is known from requests alone. */
function problemOf(crl: Crl, signers: readonly Certificate[], allowWeak: boolean): string | undefined {
  const problem = crlProblem(crl, crl.scope === 'cas' ? 'cas' : 'users', allowWeak);
  const isSignedByOne = (of: readonly Certificate[]): boolean => of.some((signer) => isSignedBy(crl, signer));
  if (problem !== undefined || isSignedByOne(signers.filter((one) => isStrongEnough(one, allowWeak)))) return problem;
  if (isSignedByOne(signers)) return 'is signed by a key that is weak (allowWeak is off)';
  return signers.some((signer) => !mayBeUsedFor(signer, 'cRLSign'))
    ? 'is of a CA that is not for CRLs by its key usage, or not signed by it'
    : 'is not signed by a CA of that name here';
}

/** The first of each kind to run out, in seconds since 1970; kinds of which there are none are left out. */
export function firstExpiries(expiries: readonly Expiry[]): Readonly<Partial<Record<Expiry['what'], number>>> {
  const firsts: Partial<Record<Expiry['what'], number>> = {};
  for (const { what, at } of expiries) firsts[what] = Math.min(firsts[what] ?? Infinity, at);
  return firsts;
}

export function expiredNote(ca: Certificate): string {
  return `the CA ${shownSubject(ca)} has expired: nobody whom it certified gets in`;
}
