// An answer to a request to be authorised and what is recorded of it; the one of a refusal, which needs no decision.
// Judges nothing.
import type { AuthorisationRecord } from '../observe/events.ts';
import type { Authorisation, AuthorisationRequest } from './authority.ts';
import type { RefusedDecision, RequestRefusal } from './decide.ts';
import { digestOf } from './digest.ts';

/** What is recorded of a request itself, whatever is decided. */
export type SentRequest = Pick<AuthorisationRecord, 'requestId' | 'peer' | 'chainDigest'>;

/** What is recorded of a request before any decision. */
export function sentRequest({ id = '', peer = '', usrProxyCert }: AuthorisationRequest): SentRequest {
  return { requestId: id, peer, chainDigest: digestOf(usrProxyCert) };
}

/** An answer, and what is recorded of it. */
export interface AuthorisationOutcome {
  readonly answer: Authorisation;
  readonly record: AuthorisationRecord;
}

/**
 * The answer and record of a request that is refused, here or before any thread looked at it, when it claims nothing.
 */
export function refusedRequest(
  { requestId, peer, chainDigest }: SentRequest,
  { code, sentence }: RequestRefusal,
  { status, user, at, claimed = '', site = '' }: Refusing,
): AuthorisationOutcome {
  const record: AuthorisationRecord = {
    kind: 'authorisation',
    at,
    status,
    reason: code,
    sentence,
    requestId,
    peer,
    holder: user?.name ?? '',
    claimed,
    proxy: user?.proxy ?? '',
    site,
    roles: [],
    provenance: '',
    serialNumber: '',
    notAfter: 0,
    issuedDigest: '',
    chainDigest,
  };
  return { answer: { attCert: '', statCode: status, errMsg: sentence }, record };
}

type Refusing = Pick<RefusedDecision, 'status' | 'user'> &
  Partial<Pick<RefusedDecision, 'claimed' | 'site'>> & { readonly at: number };
