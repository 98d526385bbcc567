// How long a start takes: from the beginning of the process to the first answer, of the embedded sample and of a
// snapshot. Each start is a process of its own, with all files in the page cache and compressed records made before.
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type DataSetOptions, prepareDataSet } from './dataSet.ts';
import { cpuMicroseconds, cpuTimesOf } from '../processes/cpuTime.ts';
import { BENCH_BASE_URL, startListening } from '../processes/processes.ts';

/** One way to start: the data, the serving threads, and each start's milliseconds on the clock and of CPU, in order. */
export interface StartReport {
  readonly what: string;
  readonly threads: number;
  readonly wallMs: readonly number[];
  readonly cpuMs: readonly number[];
}

const FIRST_PAGE = '/api/v3/observations/?limit=1';
const LAUNCHER = fileURLToPath(new URL('../../server/launch.js', import.meta.url));

/**
 * Starts servers, `rounds` times each way, interleaved, and one time before that counts for nothing. CPU is that of the
 * threads that are left when the answer is there. Cost: a start and a drain each, about 2 s.
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
  const words = [LAUNCHER, 'serve', '--port', '0', '--base-url', BENCH_BASE_URL, '--log-format', 'people', ...flags];
  const server = await startListening(process.execPath, words);
  try {
    await answered(server.port);
    const wallMs = performance.now() - startMs;
    return { wallMs, cpuMs: cpuMicroseconds(new Map(), cpuTimesOf(server.pid)) / 1000 };
  } finally {
    await server.stop();
  }
}

/** Asks for a page and reads it whole. */
async function answered(port: number): Promise<void> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: FIRST_PAGE, agent: false }, resolve).once('error', reject);
  });
  await buffer(answer);
  if (answer.statusCode !== 200) throw new Error(`the first answer was ${answer.statusCode}`);
}
