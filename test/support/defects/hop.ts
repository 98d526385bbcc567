// A defect: every list takes a hop through the pool, however cheap it is.
import { plan as planned, type Plan } from '../../../engine/engine.ts';

export * from '../../../engine/engine.ts';

/** The plan, called heavy. */
export function plan(...asked: Parameters<typeof planned>): Plan {
  return { ...planned(...asked), isHeavy: true };
}
