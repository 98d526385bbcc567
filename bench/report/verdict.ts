// Judges a measured ratio by the targets of the design, and says when the machine was too noisy to judge. Pure. What
// may not be lost again is judged by budgets.ts.
import { BUDGETS } from '../budgets.ts';

/** A ratio with the spread of its control (0.4 is 40 %) and its targets, where it has some. */
export interface RatioWithTargets {
  readonly ratio: number;
  readonly spread: number;
  readonly pass?: number | undefined;
  readonly great?: number | undefined;
}

/** The verdict: at or below a target, above both, not to be judged, or without a target. */
export type RatioVerdict = 'great' | 'pass' | 'short' | 'too noisy' | '-';

/** The verdict on a ratio. A control that spreads too much says more of the machine than of the program. */
export function verdictOf({ ratio, spread, pass, great }: RatioWithTargets): RatioVerdict {
  if (pass === undefined) return '-';
  if (spread > BUDGETS.spreadMax) return 'too noisy';
  if (great !== undefined && ratio <= great) return 'great';
  return ratio <= pass ? 'pass' : 'short';
}
