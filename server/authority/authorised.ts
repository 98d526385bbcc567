// An answer to a request to be authorised and what is recorded of it; the one of a refusal, which needs no decision.
// Judges nothing.
import type { AuthorisationRecord } from '../observe/events.ts';
import type { Authorisation } from './authority.ts';
import type { RefusedDecision, RequestRefusal } from './decide.ts';

/** An answer, and what is recorded of it. */
export interface AuthorisationOutcome {
  readonly answer: Authorisation;
  readonly record: AuthorisationRecord;
}

/**
 * The answer and record of a request that is refused, here or before any thread looked at it; `chainDigest` as
 * recorded.
 */
export function refusedRequest(
  chainDigest: string,
  { code, sentence }: RequestRefusal,
  { status, user, at }: Pick<RefusedDecision, 'status' | 'user'> & { readonly at: number },
): AuthorisationOutcome {
  const record: AuthorisationRecord = {
    kind: 'authorisation',
    at,
    status,
    reason: code,
    sentence,
    holder: user?.name ?? '',
    proxy: user?.proxy ?? '',
    roles: [],
    provenance: '',
    serialNumber: '',
    notAfter: 0,
    issuedDigest: '',
    chainDigest,
    isWritten: false,
  };
  return { answer: { attCert: '', statCode: status, errMsg: sentence }, record };
}
