// Decisions on their way out: recorded before they are sent, and nothing granted that cannot be recorded. Repeated
// refusals are counted, so that no client can fill the disk of the audit.
import { epochSeconds, steadyMs } from '../observe/clock.ts';
import type { AuthorisationRecord, Observer, RefusalsRepeated } from '../observe/events.ts';
import { type AuthorisationOutcome, refusedRequest } from './authorised.ts';

const UNRECORDED = {
  code: 'unrecorded',
  sentence: 'This service cannot record its decisions at the moment and grants nothing meanwhile; please try again.',
} as const;

/**
 * The outcome, once the recorder has its record. If that throws, a grant becomes a refusal, and the record stays
 * unrecorded: the supervisor tries again and reports it.
 */
export function recordedBy(recorder: Recorder | undefined, authorised: AuthorisationOutcome): AuthorisationOutcome {
  if (recorder === undefined) return authorised;
  const { answer, record } = authorised;
  try {
    recorder.record(record);
    return { answer, record: { ...record, isRecorded: true } };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (answer.statCode !== 'AccessGranted') return authorised;
    const { at, holder, proxy, site } = record;
    const refused = refusedRequest(record, UNRECORDED, { status: 'AccessError', user: undefined, at });
    return { ...refused, record: { ...refused.record, holder, proxy, site } };
  }
}

/** How often counts are written. */
export const COUNTS_EVERY_MS = 60_000;

/** Kinds of refusals that are counted apart, some 300 bytes each. The refusals of further kinds share one count. */
const KINDS_MAX = 1000;

type Count = Pick<RefusalsRepeated, 'reason' | 'peer' | 'holder'> & { repeated: number };

/** Writes grants and the first refusal of each kind, and counts the others. A kind is a reason, a peer and a holder. */
export class Recorder {
  readonly #write: Observer;
  readonly #counts = new Map<string, Count>();
  readonly #further: Count = { reason: '', peer: '', holder: '', repeated: 0 };
  #dueMs = steadyMs() + COUNTS_EVERY_MS;

  constructor(write: Observer) {
    this.#write = write;
  }

  /** Throws what `write` throws. A refusal counts as recorded then: the caller has to report it. */
  record(record: AuthorisationRecord): void {
    if (steadyMs() >= this.#dueMs) this.writeCounts();
    const { status, reason, peer, holder } = record;
    if (status !== 'AccessGranted') {
      const kind = `${reason} ${peer} ${holder}`;
      const count = this.#counts.get(kind) ?? (this.#counts.size < KINDS_MAX ? undefined : this.#further);
      if (count) return void count.repeated++;
      this.#counts.set(kind, { reason, peer, holder, repeated: 0 });
    }
    this.#write([record]);
  }

  /** Writes the counts and forgets kinds that were not repeated. Counts that cannot be written are kept. */
  writeCounts(): void {
    this.#dueMs = steadyMs() + COUNTS_EVERY_MS;
    const at = epochSeconds();
    const repeated = [...this.#counts.values(), this.#further].filter((count) => count.repeated > 0);
    try {
      if (repeated.length > 0) this.#write(repeated.map((count) => ({ kind: 'refusalsRepeated', at, ...count })));
    } catch (error) {
      if (error instanceof Error && 'code' in error) return;
      throw error;
    }
    for (const [kind, count] of this.#counts) if (count.repeated === 0) this.#counts.delete(kind);
    for (const count of repeated) count.repeated = 0;
  }
}
