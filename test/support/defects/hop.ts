// A defect: every list takes a hop through the pool, however cheap it is.
import { Meter as FullMeter } from '../../../engine/engine.ts';

export * from '../../../engine/engine.ts';

/** A meter whose budget is spent before the first pass. The budget of the pool is infinite and stays so. */
export class Meter extends FullMeter {
  constructor(...[budgetNs, ...others]: ConstructorParameters<typeof FullMeter>) {
    super(budgetNs === Infinity ? budgetNs : -1, ...others);
  }
}
