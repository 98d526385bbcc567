// Judges a measured ratio by its targets, and says when the machine was too noisy to judge.
// Pure; called by report.ts and by the guards in test/load/.
import type { Scenario } from './scenarios.ts';

/** A ratio with the spread of its control (0.4 is 40 %) and its targets. */
export interface Judged {
  readonly ratio: number;
  readonly spread: number;
  readonly pass: number;
  readonly great: number;
}

/** The verdict: at or below a target, above both, or not to be judged. */
export type Verdict = 'great' | 'pass' | 'miss' | 'too noisy';

/** A control that spreads by more than this says more of the machine than of the program. */
const SPREAD_MAX = 0.4;

/** The verdict on a ratio. */
export function verdictOf({ ratio, spread, pass, great }: Judged): Verdict {
  if (spread > SPREAD_MAX) return 'too noisy';
  if (ratio <= great) return 'great';
  return ratio <= pass ? 'pass' : 'miss';
}

/** By how much a target may be passed where others use the machine (design: How to measure). */
const TOLERANCE = 0.3;

/** What a guard compares with: the most that a scenario's ratio may be on a shared machine. */
export function guardOf({ pass, guard }: Pick<Scenario, 'pass' | 'guard'>): number {
  return guard?.ratio ?? pass * (1 + TOLERANCE);
}
