// The audit log: each decision is recorded before its response is sent, and nothing is granted that cannot be recorded.
// Repeated refusals are only counted, so that no client can fill the disk.
import { epochSeconds } from '../observe/clock.ts';
import type { AuthorisationRecord, Observer, RefusalsRepeated, ServiceEvent } from '../observe/events.ts';
import { type AuthorisationOutcome, NOTHING_ISSUED, makeOutcome } from './authorise.ts';

const NOT_RECORDED = {
  status: 'AccessError',
  reason: 'unrecorded',
  sentence: 'This service cannot record its decisions at the moment and grants nothing meanwhile; please try again.',
} as const;

export const COUNTS_EVERY_MS = 60_000;

/** Limit of separately counted kinds of refusals, some 300 bytes each. All further kinds share one count. */
const KINDS_MAX = 1000;

type Count = Pick<RefusalsRepeated, 'reason' | 'peer' | 'holder'> & { repeated: number };

/** A kind is a reason, a peer and a holder. `onLost` receives the error of `append` and the lost events. */
export class Audit {
  readonly #append: Observer;
  readonly #onLost: (events: readonly ServiceEvent[], cause: unknown) => void;
  readonly #counts = new Map<string, Count>();
  readonly #further: Count = { reason: '', peer: '', holder: '', repeated: 0 };

  constructor(append: Observer, onLost: (events: readonly ServiceEvent[], cause: unknown) => void) {
    this.#append = append;
    this.#onLost = onLost;
  }

  /** Returns the outcome once it is recorded. A grant that cannot be recorded becomes a refusal. */
  record(outcome: AuthorisationOutcome): AuthorisationOutcome {
    const cause = this.#countRepeated(outcome.record) ? undefined : this.#refusal([outcome.record]);
    if (cause === undefined) return outcome;
    const isGrant = outcome.record.status === 'AccessGranted';
    const final = isGrant ? makeOutcome({ ...outcome.record, ...NOT_RECORDED, ...NOTHING_ISSUED }) : outcome;
    this.#onLost([final.record], cause);
    return final;
  }

  write(events: readonly ServiceEvent[]): void {
    const cause = this.#refusal(events);
    if (cause !== undefined) this.#onLost(events, cause);
  }

  /** Writes the counts and forgets kinds that were not repeated. Counts that cannot be written are kept. */
  writeCounts(): void {
    const at = epochSeconds();
    const repeated = [...this.#counts.values(), this.#further].filter((count) => count.repeated > 0);
    if (this.#refusal(repeated.map((count) => ({ kind: 'refusalsRepeated', at, ...count })))) return;
    for (const [kind, count] of this.#counts) if (count.repeated === 0) this.#counts.delete(kind);
    for (const count of repeated) count.repeated = 0;
  }

  /** Counts a refusal whose kind has already been recorded. Returns whether it did. */
  #countRepeated({ status, reason, peer, holder }: AuthorisationRecord): boolean {
    if (status === 'AccessGranted') return false;
    const kind = `${reason} ${peer} ${holder}`;
    const count = this.#counts.get(kind) ?? (this.#counts.size < KINDS_MAX ? undefined : this.#further);
    if (count) count.repeated++;
    else this.#counts.set(kind, { reason, peer, holder, repeated: 0 });
    return count !== undefined;
  }

  #refusal(events: readonly ServiceEvent[]): Error | undefined {
    try {
      if (events.length > 0) this.#append(events);
      return undefined;
    } catch (error) {
      if (error instanceof Error && 'code' in error) return error;
      throw error;
    }
  }
}
