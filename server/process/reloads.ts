// Loads other data into a running server and reports it. Composition only: generations.ts decides, loadGeneration.ts
// loads, and the serving threads serve.
import { assertAnswers } from '../../data/timeLimit.ts';
import type { Report } from '../observe/events.ts';
import { epochMs, secondsSince, steadyMs } from '../observe/clock.ts';
import type { Settings } from '../settings/declarations.ts';
import type { Administration } from './administration.ts';
import type { Arrival } from './arrival.ts';
import {
  availableMemoryBytes,
  bytesOfGeneration,
  type Generation,
  loadNext,
  roomWithin,
  type ServedData,
} from './loadGeneration.ts';
import { type Change, Generations, type ReplacedGeneration, ReplacedGenerations } from './generations.ts';
import { collectSoon, whenReleased } from './release.ts';
import type { ServingThreads } from './servingThreads.ts';

export interface ReloadOptions {
  readonly settings: Settings;
  readonly baseUrl: string;
  readonly served: ServedData;
  readonly threads: Pick<ServingThreads, 'swap' | 'closeReaders' | 'replacedReaders'>;
  /** Set with a target, which keeps generations on disk. */
  readonly arrival: Pick<Arrival, 'other' | 'serves' | 'directory'> | undefined;
  readonly administration: Administration | undefined;
  readonly report: Report;
}

/** Cost: each reload loads a generation, and two are in memory meanwhile. */
export async function makeGenerations({
  settings,
  baseUrl,
  served,
  threads,
  arrival,
  administration,
  report,
}: ReloadOptions): Promise<Generations> {
  // One thread compresses, because the others serve. No progress bar: no operator watches a running server.
  const loading = {
    baseUrl,
    report,
    showProgress: unseen,
    assertRoom: roomWithin(availableMemoryBytes, arrival?.directory),
    // A refresh writes past the page cache, so the new file is not in it.
    isUncached: settings.follow !== undefined,
    deflateThreads: 1,
    // This thread also serves the admin port, even while a mount hangs.
    isOffThread: true,
    servedBlocks: () => served.generation.blocks,
  };
  const replaced = new ReplacedGenerations(settings.replacedSeconds, threads, report);
  if (administration) administration.replaced = replaced;
  return new Generations(served, {
    clock: steadyMs,
    now: epochMs,
    before: await arrival?.other(served.generation.loaded.generation),
    load: async (held) => {
      // An imported directory has no file name any more: its file is in the folder for temporary files.
      if (!held?.isNameless) await assertAnswers(held?.file ?? settings.data, arrival?.directory);
      let next: Generation | undefined;
      try {
        const current = served.generation.loaded.generation;
        next = await replaced.withRoom(() => loadNext(settings, loading, current, held));
      } finally {
        if (!next) collectSoon();
      }
      return next;
    },
    serve: async (next) => replaced.add(reportReplaced(served.generation, await threads.swap(next), report)),
    onServed: async (generation) => arrival?.serves(generation),
    onChange: (change, bug) => {
      const { status, served: generation, reason, seconds } = change;
      const bytes = status === 'swapped' ? bytesOfGeneration(served.generation) : undefined;
      const step = { event: status, generation, reason, bytes, seconds };
      report(changeLine(change), status === 'refused' ? 'warn' : 'info', step);
      if (bug !== undefined) report(`please report this bug: ${bug}`, 'error');
      administration?.changed(change);
    },
  });
}

function unseen<T>(work: (onProgress: () => void) => Promise<T>): Promise<T> {
  return work(() => undefined);
}

/** The generation before a swap. Logs when its memory is free in all serving threads and in this one. */
function reportReplaced(
  before: Generation,
  { swap, isReleased }: Awaited<ReturnType<ServingThreads['swap']>>,
  report: Report,
): ReplacedGeneration {
  const startMs = steadyMs();
  const { loaded, blocks } = before;
  // Computed now: a closure over the generation would keep its memory.
  const bytes = bytesOfGeneration(before);
  const released = whenReleased([...loaded.memories, ...(blocks?.memories ?? [])]);
  const { generation } = loaded;
  const line = `generation ${generation.slice(0, 12)}: nobody reads it any more, its memory is free`;
  const seconds = (): number => secondsSince(startMs);
  const isFree = Promise.all([isReleased, released]);
  void isFree.then(() => report(line, 'info', { event: 'freed', generation, bytes, seconds: seconds() }));
  return { generation, bytes, swap, isFree };
}

function changeLine({ status, served, reason, seconds }: Change): string {
  const generation = served.slice(0, 12);
  if (status === 'swapped') return `generation ${generation} is served now, after ${seconds} s`;
  if (status === 'unchanged') return `the data has not changed: generation ${generation} goes on`;
  return `the new data is not taken, generation ${generation} goes on: ${reason}`;
}
