// Where the CPU time of an import goes, by stage: what this thread does in each, and what threads say of theirs. The
// one place of the import that asks for time.

/** The stages, in the order of the work, each with what it is for people. */
export const STAGES = {
  reading: 'reading files, their sums, cutting them into lines',
  decoding: 'decoding lines, numbering values, keeping records',
  gathering: 'gathering numbers and positions',
  making: 'making columns: dictionaries, posting lists, n-grams',
  records: 'writing records',
  columns: 'writing columns',
} as const;

export type Stage = keyof typeof STAGES;

/** CPU seconds of one stage, over all threads. */
export interface StageTime {
  readonly stage: Stage | 'other';
  readonly seconds: number;
}

/** Adds up the CPU time of stages, and knows what the process took in all since it was made. */
export class ImportProfile {
  readonly #micros = new Map<Stage, number>();
  readonly #start = process.cpuUsage();

  /** Does something of a stage in this thread, and answers its result. Cost: two looks at the clock. */
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
   * All stages, and behind them as `other` what the process took beside them: starts of threads, their garbage, reads
   * and the flush to the disk.
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

/** CPU time of this thread in microseconds; 0 on a Node that does not tell (before 22.19). */
export function cpuMicros(): number {
  // Older ones have none, whatever the types say.
  const { user, system } = (process as Partial<typeof process>).threadCpuUsage?.() ?? { user: 0, system: 0 };
  return user + system;
}
