// The CPU time of an import by stage: of this thread, and as reported by other threads. No other part of the import
// measures time.

/** The stages in the order of the work, each with a description. */
export const STAGES = {
  reading: 'reading files, their sums, cutting them into lines',
  decoding: 'decoding lines, numbering values, keeping records',
  gathering: 'gathering numbers and positions',
  making: 'making columns: dictionaries, posting lists, n-grams',
  records: 'writing records',
  columns: 'writing columns',
} as const;

export type Stage = keyof typeof STAGES;

export interface StageTime {
  readonly stage: Stage | 'other';
  readonly seconds: number;
}

/** Adds up the CPU time of stages, and the total of the process since this was created. */
export class ImportProfile {
  readonly #micros = new Map<Stage, number>();
  readonly #start = process.cpuUsage();

  /** Runs work of a stage in this thread and returns its result. Cost: two clock readings. */
  measure<T>(stage: Stage, act: () => T): T {
    const before = cpuMicros();
    try {
      return act();
    } finally {
      this.add(stage, cpuMicros() - before);
    }
  }

  add(stage: Stage, micros: number): void {
    this.#micros.set(stage, (this.#micros.get(stage) ?? 0) + micros);
  }

  /**
   * All stages, then as `other` the rest of the process: starting threads, their garbage collection, reads, and syncing
   * to the disk.
   */
  stageTimes(): readonly StageTime[] {
    const { user, system } = process.cpuUsage(this.#start);
    const stages = Object.keys(STAGES) as Stage[];
    const known = stages.reduce((sum, stage) => sum + (this.#micros.get(stage) ?? 0), 0);
    const other = Math.max(0, user + system - known);
    return [
      ...stages.map((stage) => ({ stage, seconds: (this.#micros.get(stage) ?? 0) / 1e6 })),
      { stage: 'other', seconds: other / 1e6 },
    ];
  }
}

/** CPU time of this thread in microseconds; 0 before Node 22.19, which does not report it. */
export function cpuMicros(): number {
  // Missing in older versions, unlike in the types.
  const { user, system } = (process as Partial<typeof process>).threadCpuUsage?.() ?? { user: 0, system: 0 };
  return user + system;
}
