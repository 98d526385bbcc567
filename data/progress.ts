/**
 * The progress of long work. `phase` is a short phrase for messages (`reading observations`). `done` and `total` are in
 * `unit`; `total` is 0 if it is unknown.
 */
export interface Progress {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
  readonly unit: 'bytes' | 'records' | 'requests';
}

/** Receives the progress of long work; called synchronously, a few times a second at most. */
export type OnProgress = (progress: Progress) => void;
