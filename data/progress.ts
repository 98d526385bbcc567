// How long work reports where it is: plain events, turned into bars or lines by whoever listens.
// Knows no terminal.

/**
 * The progress of long work. `phase` is a short phrase for people (`reading observations`); `done` of `total` is in
 * `unit`. `total` is 0 if it is unknown.
 */
export interface Progress {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
  readonly unit: 'bytes' | 'records' | 'requests' | 'collections';
}

/** Receives every step of long work; called a few times a second at most, synchronously. */
export type OnProgress = (progress: Progress) => void;
