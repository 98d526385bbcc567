// The steps of the life of the data as operators ask after them: of each, when it was last done, with its bytes and how
// long it took, and of orders the last success apart from the last failure. Told by events; decides nothing.
import { type DataEvent, DATA_STEPS, type DataStep } from '../observe/events.ts';
import type { OwnGauge } from '../observe/metrics.ts';
import type { Change } from './generations.ts';

type Status = Change['status'];

/** The last time that a step was done; `reason` of what was refused. */
interface LastStep {
  readonly atMs: number;
  readonly bytes?: number;
  readonly seconds?: number;
  readonly reason?: string;
}

type Figure = 'at' | 'bytes' | 'seconds';

const GAUGES: readonly (readonly [figure: Figure, name: string, help: string])[] = [
  ['at', 'last_step_timestamp_seconds', 'When a step of the data was last done, in seconds since 1970.'],
  ['bytes', 'step_bytes', 'The bytes of a step of the data when it was last done.'],
  ['seconds', 'step_seconds', 'How long a step of the data took when it was last done.'],
];

/** The registry of a server's steps. */
export class DataSteps {
  readonly #last = new Map<DataStep, LastStep>();

  /** A step was done at a time, in milliseconds since 1970. */
  observe({ event, bytes, seconds, reason }: DataEvent, atMs: number): void {
    this.#last.set(event, {
      atMs,
      ...(typeof bytes === 'number' && { bytes }),
      ...(typeof seconds === 'number' && { seconds }),
      ...(typeof reason === 'string' && { reason }),
    });
  }

  /** What `/status` says: those that were done, in the order of the list of steps. */
  status(): Readonly<Record<string, unknown>> {
    return Object.fromEntries(
      this.#done().map(([step, { atMs, ...figures }]) => [step, { at: new Date(atMs).toISOString(), ...figures }]),
    );
  }

  /** The same by step, for the metrics. */
  gauges(): readonly OwnGauge[] {
    return GAUGES.map(([figure, name, help]) => ({
      name,
      help,
      label: 'step',
      valuesOf: () =>
        this.#done().flatMap(([step, last]) => {
          const value = figure === 'at' ? last.atMs / 1000 : last[figure];
          return value === undefined ? [] : [[step, value] as const];
        }),
    }));
  }

  #done(): readonly (readonly [DataStep, LastStep])[] {
    return DATA_STEPS.flatMap((step) => {
      const last = this.#last.get(step);
      return last ? [[step, last] as const] : [];
    });
  }
}

/** How orders last ended, by their outcomes: a refusal is kept apart, so that no success hides it. */
export class LastOutcomes {
  readonly #last = new Map<Status, { readonly atMs: number; readonly reason: string | undefined }>();

  /** One ended so, at a time in milliseconds since 1970. */
  ended(status: Status, reason: string | undefined, atMs: number): void {
    this.#last.set(status, { atMs, reason });
  }

  /** When each outcome last was, in seconds since 1970. */
  get seconds(): readonly (readonly [Status, number])[] {
    return [...this.#last].map(([status, { atMs }]) => [status, atMs / 1000] as const);
  }

  /** What `/status` says. */
  status(): { readonly lastSuccess: string | null; readonly lastFailure: unknown } {
    const successes = [...this.#last].flatMap(([status, { atMs }]) => (status === 'refused' ? [] : [atMs]));
    const failure = this.#last.get('refused');
    return {
      lastSuccess: successes.length === 0 ? null : new Date(Math.max(...successes)).toISOString(),
      lastFailure: failure ? { at: new Date(failure.atMs).toISOString(), reason: failure.reason } : null,
    };
  }
}
