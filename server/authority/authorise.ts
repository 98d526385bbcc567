// Authorises one request: from its two texts, `usrProxyCert` and `usrAttCert`, to the response and the audit record.
// Decision, evidence and signature use the same configuration. Starts no thread.
import { hash } from 'node:crypto';
import type { AuthorisationRecord } from '../observe/events.ts';
import { makeSigner } from './attributeCertificate/write.ts';
import type { Authorisation, AuthorisationRequest } from './authority.ts';
import type { AuthorityData } from './configuration/load.ts';
import { decide, evidenceAt, type Policy, makeTrust } from './decide.ts';
import { randomSerialNumber } from './issuance.ts';
import { parseCertificate } from './x509/certificate.ts';
import { nameText } from './x509/name.ts';

export interface AuthorisationOutcome {
  readonly answer: Authorisation;
  readonly record: AuthorisationRecord;
}

/** Handles a request at a time in whole seconds since 1970. Never throws because of a client's input. */
export type Authorise = (request: AuthorisationRequest, at: number) => AuthorisationOutcome;

/** The members of a record that describe the issued certificate, for a request without one. */
export const NOTHING_ISSUED = {
  roles: [],
  provenance: '',
  serialNumber: '',
  notAfter: 0,
  issuedDigest: '',
} as const satisfies Partial<AuthorisationRecord>;

/** `giveWay` is called before each signature. Cost: reading the CAs, about 0.1 ms each. */
export function makeAuthoriser(data: AuthorityData, giveWay: () => void = () => undefined): Authorise {
  const certificate = parseCertificate(data.certificate);
  const sign = makeSigner({ key: data.key, certificate });
  const trust = makeTrust(data);
  const { siteName, lifetimeSeconds, notBeforeOffsetSeconds, clockSkewSeconds } = data;
  const policy: Omit<Policy, 'at'> = {
    siteName,
    lifetimeSeconds,
    notBeforeOffsetSeconds,
    clockSkewSeconds,
    issuer: nameText(certificate.subject),
    issuerNotAfter: data.issuerNotAfter,
    isIssuerRevoked: data.isIssuerRevoked,
    hosts: new Map(data.hosts.map((host) => [host.name, host])),
    findRoles: (key) => data.users.get(key) ?? [],
  };
  return (request, at) => {
    const decision = decide(request, { ...policy, at }, evidenceAt(trust, at));
    const { status, user, site } = decision;
    const record: AuthorisationRecord = {
      kind: 'authorisation',
      at,
      status,
      reason: '',
      sentence: '',
      requestId: request.id ?? '',
      peer: request.peer ?? '',
      holder: user?.name ?? '',
      claimed: '',
      proxy: user?.proxy ?? '',
      site,
      ...NOTHING_ISSUED,
      chainDigest: hash('sha256', request.usrProxyCert),
    };
    if (decision.status !== 'AccessGranted') {
      const { claimed, refusal } = decision;
      return makeOutcome({ ...record, reason: refusal.code, sentence: refusal.sentence, claimed });
    }
    const { roles, provenance, notAfter } = decision.content;
    const serialNumber = String(randomSerialNumber());
    giveWay();
    const attCert = sign(decision.content);
    const issuedDigest = hash('sha256', attCert);
    return makeOutcome({ ...record, roles, provenance, serialNumber, notAfter, issuedDigest }, attCert);
  };
}

/** The outcome of a record, with its status and sentence in the response. */
export function makeOutcome(record: AuthorisationRecord, attCert = ''): AuthorisationOutcome {
  return { answer: { attCert, statCode: record.status, errMsg: record.sentence }, record };
}
