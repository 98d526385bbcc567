// An answer to a request to be authorised and what is recorded of it; the one of a refusal, which needs no decision.
// Judges nothing.
import type { AuthorisationRecord } from '../observe/events.ts';
import type { Authorisation } from './authority.ts';
import type { ProvenUser, RefusalCode } from './decide.ts';

/** An answer, and what is recorded of it. */
export interface Authorised {
  readonly answer: Authorisation;
  readonly record: AuthorisationRecord;
}

interface Refusal {
  readonly status: 'AccessDenied' | 'AccessError';
  readonly user: ProvenUser | undefined;
  readonly at: number;
}

/**
 * The answer and record of a request that is refused, here or before any thread looked at it; `chainDigest` as
 * recorded.
 */
export function refused(
  chainDigest: string,
  { code, sentence }: { readonly code: RefusalCode; readonly sentence: string },
  { status, user, at }: Refusal,
): Authorised {
  const record: AuthorisationRecord = {
    kind: 'authorisation',
    at,
    status,
    reason: code,
    holder: user?.name ?? '',
    proxy: user?.proxy ?? '',
    roles: [],
    provenance: '',
    serialNumber: '',
    notAfter: 0,
    issuedDigest: '',
    chainDigest,
  };
  return { answer: { attCert: '', statCode: status, errMsg: sentence }, record };
}
