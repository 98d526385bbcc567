// The signing thread of a serving thread, for one configuration: a bounded queue before a pool of Piscina.
// A reload makes another, with nothing in its caches; this one ends when its last request is answered. Called by service.ts.
import { Piscina } from 'piscina';
import type { Authorised } from './authorised.ts';
import type { AuthorisationRequest } from './authority.ts';
import type { AuthorityData } from './configuration/load.ts';

/** Requests that run or wait at once in one serving thread (A85): some 0.2 s of signing, at most 64 MiB of texts. */
export const WAITING_MAX = 128;

/** Answers requests off the calling thread, or says that too many wait. `close` lets those under way finish. */
export interface SignPool {
  run(request: AuthorisationRequest): Promise<Authorised | 'busy'>;
  close(): Promise<void>;
}

/** A pool of one thread over one configuration, started with the first request. A rejected run is our bug. */
export function startSignPool(data: AuthorityData): SignPool {
  let piscina: Piscina<AuthorisationRequest, Authorised> | undefined;
  const started = (): Piscina<AuthorisationRequest, Authorised> =>
    (piscina ??= new Piscina({
      filename: new URL('./signTask.ts', import.meta.url).href,
      name: 'answerRequest',
      minThreads: 1,
      maxThreads: 1,
      // One after the other all the same: what waits lies with the thread, which sleeps only when there is nothing to do.
      concurrentTasksPerWorker: WAITING_MAX,
      workerData: data,
    }));
  const underWay = new Set<Promise<unknown>>();
  return {
    async run(request) {
      if (underWay.size >= WAITING_MAX) return 'busy';
      const task = started().run(request);
      underWay.add(task);
      try {
        return await task;
      } finally {
        underWay.delete(task);
      }
    },
    async close() {
      // Piscina waits for what runs only, and takes what is queued behind it for a failure.
      await Promise.allSettled(underWay);
      await piscina?.close();
    },
  };
}
