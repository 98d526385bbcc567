// The budgets of budgets.json: the maximum of each ratio and counter with its reason, and how results are compared with
// them. A budget is a level that was reached and must not be lost. A target is what the design wants.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

/** Where a run takes place: by hand on a quiet machine, or in CI next to others. */
export type BudgetPlace = 'hand' | 'ci';

/** Budgets are for a catalogue of this size. Those of the authority and of proxies hold for any size. */
export const BUDGETED_OBSERVATIONS = 100_000;

/** By how much a result may exceed a budget at each place: 0.15 is 15 %. */
export type Tolerance = Readonly<Record<BudgetPlace, number>>;

/**
 * The maximum of a ratio before its tolerance, and the reason. `promise` is a maximum at every place, without
 * tolerance, because documents promise it to users.
 */
export interface RatioBudget {
  readonly most: number;
  readonly promise?: number;
  readonly reason: string;
  readonly tolerance?: Tolerance;
}

/**
 * The maximum of each counter for one request of a scenario, and the reason. Counters that are not named have no limit.
 */
export interface CounterBudget {
  readonly most: Readonly<Record<string, number>>;
  readonly reason: string;
}

/**
 * The content of budgets.json: ratios and counters by scenario, `micro` by micro-benchmark. If a control spreads by
 * more than `spreadMax`, its ratios are not compared.
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

/** Place and reason of a budget, for the report that it was exceeded or is missing. */
export function placeOfBudget(part: 'ratios' | 'micro' | 'counters', name: string, budgets = BUDGETS): string {
  const reason = budgets[part][name]?.reason ?? 'no such entry: add it, as measured, with its reason';
  return `${part}.${name} of bench/budgets.json (${reason})`;
}

/** Parses budgets. Throws if a number or a reason is missing, so that no budget is void. */
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

/** A measured ratio with the spread of its control, and with its own spread if known. */
export interface MeasuredRatio {
  readonly name: string;
  readonly ratio: number;
  readonly spread: number;
  readonly ownSpread?: number;
}

/**
 * The result of comparing a ratio with its budget. `unbudgeted` means that the ratio has no budget, which tests forbid
 * for ratios in the table. The dash means that it was not compared.
 */
export type BudgetVerdict = 'held' | 'lost' | 'too noisy' | 'unbudgeted' | '-';

/**
 * Compares a ratio with its budget and tolerance. Noise only increases ratios, so a ratio within its budget is `held`
 * despite any noise. A ratio beyond its budget is `lost` if its rounds differ by at most `spreadMax`, or by less than
 * the excess. Without a place the ratio is not compared, because the catalogue has another size.
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

/** Says which rounds disagree too much for a comparison, and by how much. */
export function noiseText({ spread, ownSpread = 0 }: Omit<MeasuredRatio, 'name' | 'ratio'>, budgets = BUDGETS): string {
  const [whose, by] = spread > budgets.spreadMax ? ['its control spreads', spread] : ['it spreads', ownSpread];
  return `${whose} by ${(by * 100).toFixed(0)} %`;
}

/** The maximum of a ratio at a place. */
export function mostOf(
  { most, tolerance, promise = Infinity }: RatioBudget,
  place: BudgetPlace,
  budgets = BUDGETS,
): number {
  return Math.min(promise, most * (1 + (tolerance ?? budgets.tolerance)[place]));
}

/** Lines about budgets or growth, and whether they are good. */
export interface GuardLines {
  readonly lines: readonly string[];
  readonly isGood: boolean;
}

/**
 * The lines of a run about its budgets, one each. `isGood` needs at least one comparison and no lost budget, so that a
 * run that measured nothing does not pass. Without a place nothing is compared, and a line reports that. `part` is the
 * part of budgets.json.
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

/** A ratio with the spread of its control (0.4 is 40 %) and its targets, if any. */
export interface RatioWithTargets {
  readonly ratio: number;
  readonly spread: number;
  readonly pass?: number | undefined;
  readonly great?: number | undefined;
}

/** The verdict: at or below a target, above both, too noisy, or without a target. */
export type RatioVerdict = 'great' | 'pass' | 'short' | 'too noisy' | '-';

/** The verdict on a ratio. If a control spreads too much, the ratio describes the machine rather than the program. */
export function verdictOf({ ratio, spread, pass, great }: RatioWithTargets): RatioVerdict {
  if (pass === undefined) return '-';
  if (spread > BUDGETS.spreadMax) return 'too noisy';
  if (great !== undefined && ratio <= great) return 'great';
  return ratio <= pass ? 'pass' : 'short';
}
