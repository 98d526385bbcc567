// What `explain=1` answers (A68): the plan of a list, where it ran, the work it took, and what the thread keeps. Text
// only: finds nothing and sends nothing.
import { countSelected, explained, type Listed } from '../../engine/engine.ts';
import type { ListQuery } from '../../workers/heavyLists.ts';
import type { Router } from '../../workers/router.ts';
import type { Trace } from '../../workers/trace.ts';

/** A list that was found: its query, what the router noted, and the generation of the data. */
export interface FoundList {
  readonly generation: string;
  readonly query: ListQuery;
  readonly found: Listed;
  readonly trace: Trace;
  readonly router: Router;
}

/** The JSON text of an explanation. `thread` counts since the start of the serving thread. Cost: the plan's steps. */
export function explanationText({ generation, query, found, trace, router }: FoundList): string {
  const { place, isKept, isShared, counters } = trace;
  return JSON.stringify({
    generation,
    plan: explained(query.plan),
    count: found.count,
    shown: countSelected(found.rows),
    ran: { place, isKept, isShared, ...counters },
    thread: router.statistics(),
  });
}
