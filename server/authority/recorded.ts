// Decisions on their way out: recorded before they are told, and nothing granted that cannot be. Writes where it is
// told to and decides nothing else.
import { appendLines, type AuditLog, logLine } from '../observe/log.ts';
import { type AuthorisationOutcome, refusedRequest } from './authorised.ts';

const UNRECORDED = {
  code: 'unrecorded',
  sentence: 'This service cannot record its decisions at the moment and grants nothing meanwhile; please try again.',
} as const;

/**
 * What was decided, once its line is in the file of the audit; as it is without one. Where the file cannot be written,
 * what was granted is refused, and no record is marked as written: that is for others to try, and to tell.
 */
export function recordedIn(auditLog: AuditLog | undefined, authorised: AuthorisationOutcome): AuthorisationOutcome {
  if (auditLog === undefined) return authorised;
  const { answer, record } = authorised;
  try {
    appendLines(auditLog.file, [logLine(record)], auditLog.pipe);
    return { answer, record: { ...record, isWritten: true } };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (answer.statCode !== 'AccessGranted') return authorised;
    const { at, holder, proxy, site } = record;
    const refused = refusedRequest(record, UNRECORDED, { status: 'AccessError', user: undefined, at });
    return { ...refused, record: { ...refused.record, holder, proxy, site } };
  }
}
