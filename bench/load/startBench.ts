// Measures the time from the start of the process to the first response, with the embedded sample and with a snapshot.
// Each start is a separate process, with all files in the page cache and compressed records made before.
import { type DataSetOptions, prepareDataSet } from './dataSet.ts';
import { cpuSecondsOf } from '../processes/cpuTime.ts';
import { BENCH_BASE_URL, LAUNCHER_FILE, startListening } from '../processes/processes.ts';
import { ask } from '../scenarios/check.ts';

/**
 * One way to start: the data, the serving threads, and for each start the milliseconds of wall time and of CPU, in
 * order.
 */
export interface StartReport {
  readonly what: string;
  readonly threads: number;
  readonly wallMs: readonly number[];
  readonly cpuMs: readonly number[];
}

const FIRST_PAGE = '/api/v3/observations/?limit=1';

/**
 * Starts servers `rounds` times each way, interleaved, after one start that does not count. CPU is that of all threads,
 * including those that exited before the response. Cost: a start and a drain each, about 2 s.
 */
export async function runStartBench(
  options: DataSetOptions & { readonly rounds: number; readonly threads: readonly number[] },
  onStep: (line: string) => void,
): Promise<readonly StartReport[]> {
  const { snapshot } = await prepareDataSet(options, () => undefined);
  const data = [
    { what: 'the embedded sample', flags: [] },
    { what: 'the snapshot', flags: ['--data', snapshot] },
  ];
  const ways = data.flatMap(({ what, flags }) => options.threads.map((threads) => ({ what, threads, flags })));
  const starts = ways.map(() => [] as Start[]);
  for (let round = 0; round <= options.rounds; round++) {
    onStep(`round ${round} of ${options.rounds}`);
    for (const [i, { flags, threads }] of ways.entries()) {
      const start = await startOnce([...flags, '--threads', `${threads}`]);
      if (round > 0) starts[i]!.push(start);
    }
  }
  return ways.map(({ what, threads }, i) => {
    const sorted = (of: (start: Start) => number): readonly number[] => starts[i]!.map(of).toSorted((a, b) => a - b);
    return { what, threads, wallMs: sorted(({ wallMs }) => wallMs), cpuMs: sorted(({ cpuMs }) => cpuMs) };
  });
}

interface Start {
  readonly wallMs: number;
  readonly cpuMs: number;
}

async function startOnce(flags: readonly string[]): Promise<Start> {
  const startMs = performance.now();
  const words = [
    LAUNCHER_FILE,
    'serve',
    '--port',
    '0',
    '--base-url',
    BENCH_BASE_URL,
    '--log-format',
    'people',
    ...flags,
  ];
  const server = await startListening(process.execPath, words);
  try {
    const { status } = await ask(server.port, FIRST_PAGE);
    const wallMs = performance.now() - startMs;
    if (status !== 200) throw new Error(`the first answer was ${status}`);
    return { wallMs, cpuMs: 1000 * cpuSecondsOf(server.pid, 'own') };
  } finally {
    await server.stop();
  }
}
