// The budgets of budgets.json: the most that ratios and counters may be, each with its reason, and how they are judged.
// A budget is what was reached, so that nothing reached is lost again. A target is what the design wants.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

/** Where a run is judged: by hand on a quiet machine, or in CI among others. */
export type BudgetPlace = 'hand' | 'ci';

/** The size of catalogue that budgets are of, but for those of the authority and of proxies, which depend on none. */
export const BUDGETED_OBSERVATIONS = 100_000;

/** How much of a budget may be passed at each place: 0.15 is 15 %. */
export type Tolerance = Readonly<Record<BudgetPlace, number>>;

/**
 * The most that a ratio may be before its tolerance, and why it is what it is. `promise` is what it may be at most
 * wherever it is judged: what users were told, which no tolerance widens.
 */
export interface RatioBudget {
  readonly most: number;
  readonly promise?: number;
  readonly reason: string;
  readonly tolerance?: Tolerance;
}

/** The most that one request of a scenario may count, and why. A counter that is not named may be anything. */
export interface CounterBudget {
  readonly most: Readonly<Record<string, number>>;
  readonly reason: string;
}

/**
 * What budgets.json holds: by name of the scenario, `micro` by name of the micro-benchmark. `spreadMax` is the spread
 * of a control beyond which nothing is judged.
 */
export interface Budgets {
  readonly tolerance: Tolerance;
  readonly spreadMax: number;
  readonly ratios: Readonly<Record<string, RatioBudget>>;
  readonly micro: Readonly<Record<string, RatioBudget>>;
  readonly counters: Readonly<Record<string, CounterBudget>>;
}

/** The budgets of this tree. */
export const BUDGETS = budgetsOf(readFileSync(new URL('./budgets.json', import.meta.url), 'utf8'));

/** Where a budget stands, for whoever reads that it was passed or is missing: file, part, name, and its reason. */
export function placeOfBudget(part: 'ratios' | 'micro' | 'counters', name: string, budgets = BUDGETS): string {
  const reason = budgets[part][name]?.reason ?? 'no such entry: add it, as measured, with its reason';
  return `${part}.${name} of bench/budgets.json (${reason})`;
}

/** Reads budgets; throws where a number or a reason is missing, so that no budget is void. */
export function budgetsOf(text: string): Budgets {
  const budgets = JSON.parse(text) as Budgets;
  const { tolerance, spreadMax, ratios, micro, counters } = budgets;
  assert(
    isAbove(tolerance.hand, 0) && isAbove(tolerance.ci, tolerance.hand) && isAbove(spreadMax, 0),
    'bench/budgets.json: tolerances',
  );
  for (const [name, { most, reason, promise = most }] of [...Object.entries(ratios), ...Object.entries(micro)]) {
    assert(
      isAbove(most, 0) && reason.length > 0 && promise >= most,
      `bench/budgets.json: the budget of ${name} has no number or no reason, or is no promise kept`,
    );
  }
  for (const [name, { most, reason }] of Object.entries(counters)) {
    const isWhole = Object.values(most).every((value) => Number.isInteger(value) && value >= 0);
    assert(
      isWhole && reason.length > 0,
      `bench/budgets.json: the counters of ${name} are no whole numbers or have no reason`,
    );
  }
  return budgets;
}

/** The budgets of the micro-benchmarks, whose ratios are to their calibrations. */
export const MICRO_BUDGETS: Budgets = { ...BUDGETS, ratios: BUDGETS.micro };

function isAbove(value: unknown, least: number): boolean {
  return typeof value === 'number' && value > least;
}

/** A measured ratio with the spread of its control, and of what was measured where that is known. */
export interface MeasuredRatio {
  readonly name: string;
  readonly ratio: number;
  readonly spread: number;
  readonly ownSpread?: number;
}

/**
 * Whether a ratio is within its budget. `unbudgeted` is for what has none, which the tests do not allow in the table,
 * and the dash for what is judged at no place.
 */
export type BudgetVerdict = 'held' | 'lost' | 'too noisy' | 'unbudgeted' | '-';

/**
 * Compares a ratio with its budget and tolerance. Noise only adds: a ratio within its budget holds however noisy what
 * was measured is, one beyond is lost where its own rounds agree as well as those of its control must, or disagree by
 * less than it is beyond. Without a place it is not judged: it is of a catalogue of another size.
 */
export function guardedOf(measured: MeasuredRatio, place: BudgetPlace | undefined, budgets = BUDGETS): BudgetVerdict {
  const { name, ratio, spread, ownSpread = 0 } = measured;
  if (place === undefined) return '-';
  const budget = budgets.ratios[name];
  if (!budget) return 'unbudgeted';
  if (spread > budgets.spreadMax) return 'too noisy';
  const most = mostOf(budget, place, budgets);
  if (ratio <= most) return 'held';
  return ownSpread > budgets.spreadMax && ratio <= most * (1 + ownSpread) ? 'too noisy' : 'lost';
}

/** Whose rounds disagree too much to judge by, and by how much. */
export function noiseText({ spread, ownSpread = 0 }: Omit<MeasuredRatio, 'name' | 'ratio'>, budgets = BUDGETS): string {
  const [whose, by] = spread > budgets.spreadMax ? ['its control spreads', spread] : ['it spreads', ownSpread];
  return `${whose} by ${(by * 100).toFixed(0)} %`;
}

/** What a ratio may be at a place. */
export function mostOf(
  { most, tolerance, promise = Infinity }: RatioBudget,
  place: BudgetPlace,
  budgets = BUDGETS,
): number {
  return Math.min(promise, most * (1 + (tolerance ?? budgets.tolerance)[place]));
}

/** What is said of budgets or of growth, and whether it is good. */
export interface GuardLines {
  readonly lines: readonly string[];
  readonly isGood: boolean;
}

/**
 * What a run says about its budgets, a line each; `isGood` only where something was judged and nothing was lost, so
 * that nothing passes because nothing ran. Without a place nothing is to be judged, which is said. `part` is where the
 * budgets stand in their file.
 */
export function guardLines(
  measured: readonly MeasuredRatio[],
  place: BudgetPlace | undefined,
  budgets = BUDGETS,
  part: 'ratios' | 'micro' = 'ratios',
): GuardLines {
  if (place === undefined) {
    const size = BUDGETED_OBSERVATIONS.toLocaleString('en');
    return { lines: [`not judged: budgets are of ${size} observations`], isGood: true };
  }
  const guarded = measured.map((one) => ({ ...one, is: guardedOf(one, place, budgets) }));
  const lines = guarded.flatMap(({ name, ratio, spread, ownSpread = 0, is }) => {
    if (is === 'too noisy') return [`${name}: not judged, ${noiseText({ spread, ownSpread }, budgets)}`];
    if (is === 'held' || is === '-') return [];
    const where = placeOfBudget(part, name, budgets);
    if (is === 'unbudgeted') return [`${name}: not judged by ${where}`];
    const most = mostOf(budgets.ratios[name]!, place, budgets).toFixed(2);
    return [`${name}: LOST, ${ratio.toFixed(2)} is more than ${most}, by ${where}`];
  });
  const judged = guarded.filter(({ is }) => is === 'held' || is === 'lost').length;
  const lost = guarded.filter(({ is }) => is === 'lost').length;
  const sum = judged === 0 ? 'nothing could be judged' : `${judged - lost} of ${judged} judged ratios are in budget`;
  return { lines: [...lines, sum], isGood: judged > 0 && lost === 0 };
}

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
