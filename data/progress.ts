// How long work reports where it is: plain events, turned into bars or lines by whoever listens.
// Knows no terminal.

/**
 * One step of long work. `phase` is a short noun phrase for people (`reading observations`); `done` of `total` in
 * `unit`. `total` is 0 where it is not known.
 */
export interface Progress {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
  readonly unit: 'bytes' | 'records' | 'requests' | 'collections';
}

/** Receives every step of long work; called a few times a second at most, synchronously. */
export type OnProgress = (progress: Progress) => void;
