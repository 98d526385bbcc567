// What `explain=1` answers (A68): the plan of a list, where it ran, the work it took, and what the thread keeps. Text
// only: finds nothing and sends nothing.
import { countSelected, explained, type Hits, type List } from '../../engine/engine.ts';
import type { Router } from '../../workers/router.ts';
import type { Trace } from '../../workers/trace.ts';

/** A list with its hits, what the router noted of them, and the generation of the data. */
export interface Explanation {
  readonly generation: string;
  readonly list: List;
  readonly hits: Hits;
  readonly trace: Trace;
  readonly router: Router;
}

/** The JSON text of an explanation. `thread` counts since the start of the serving thread. Cost: the plan's steps. */
export function explanationText({ generation, list, hits, trace, router }: Explanation): string {
  const { place, isKept, isShared, counters } = trace;
  return JSON.stringify({
    generation,
    plan: explained(list.plan),
    count: hits.count,
    shown: countSelected(hits.rows),
    ran: { place, isKept, isShared, ...counters },
    thread: router.statistics(),
  });
}
