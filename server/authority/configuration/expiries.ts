// When what a configuration rests on runs out: the authority's certificate, its CAs, their CRLs; and what an operator
// is told then. Pure: reads no clock and no file.
import { type Certificate, isCa, shownSubject } from '../x509/certificate.ts';
import { type Crl, isCurrent } from '../x509/crl.ts';

/** What runs out: the authority's own certificate, CAs, or CRLs of CAs. */
export const EXPIRING = ['certificate', 'cas', 'crls'] as const;

/**
 * One thing that runs out behind `at`, in seconds since 1970; 0 for CRLs of which there is none that is current. `note`
 * says what comes of it, a sentence without its full stop.
 */
export interface Expiry {
  readonly what: (typeof EXPIRING)[number];
  readonly at: number;
  readonly note: string;
}

/** What was read; `crls` is undefined where revocation is not checked. Times are judged give or take the skew. */
export interface ExpiringParts {
  readonly certificate: Certificate;
  readonly anchors: readonly Certificate[];
  readonly crls: readonly Crl[] | undefined;
  readonly clockSkewSeconds: number;
}

/**
 * All expiries, by a look at what is there at a time: of several CRLs of one CA the last counts. Cost: a look at every
 * CA and every CRL.
 */
export function expiriesOf(
  { certificate, anchors, crls, clockSkewSeconds }: ExpiringParts,
  at: number,
): readonly Expiry[] {
  const ends = new Map<string, number>();
  for (const crl of crls ?? []) {
    const { issuer, nextUpdate = 0 } = crl;
    if (isCurrent(crl, at, clockSkewSeconds)) ends.set(issuer.key, Math.max(ends.get(issuer.key) ?? 0, nextUpdate));
  }
  const cas = anchors.filter(isCa);
  const own = `the certificate of ${shownSubject(certificate)} has expired: nobody believes what is issued`;
  return [
    { what: 'certificate', at: certificate.notAfter, note: own },
    ...cas.map((ca): Expiry => ({ what: 'cas', at: ca.notAfter, note: expiredNote(ca) })),
    ...(crls ? cas : []).map((ca): Expiry => {
      return { what: 'crls', at: ends.get(ca.subject.key) ?? 0, note: unlistedNote(ca) };
    }),
  ];
}

/** The first of each kind to run out, in seconds since 1970; kinds of which there are none are left out. */
export function firstExpiries(expiries: readonly Expiry[]): Readonly<Partial<Record<Expiry['what'], number>>> {
  const firsts: Partial<Record<Expiry['what'], number>> = {};
  for (const { what, at } of expiries) firsts[what] = Math.min(firsts[what] ?? Infinity, at);
  return firsts;
}

/** Of a CA that has expired. */
export function expiredNote(ca: Certificate): string {
  return `the CA ${shownSubject(ca)} has expired: nobody whom it certified gets in`;
}

/** Of a CA that has no current CRL where one is needed. */
function unlistedNote(ca: Certificate): string {
  return `there is no current CRL of ${shownSubject(ca)}: nobody whom it certified gets in`;
}
