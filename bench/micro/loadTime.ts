// Loads a snapshot once, as `serve` does. Prints the nanoseconds of the load, and the generation. A separate process,
// so that the memory of one load is freed before the next.
import { loadSnapshot } from '../../data/store/load.ts';
import { BENCH_BASE_URL } from '../processes/processes.ts';

const start = process.hrtime.bigint();
const { generation } = await loadSnapshot(process.argv[2]!, { baseUrl: BENCH_BASE_URL });
process.stdout.write(`${process.hrtime.bigint() - start} ${generation}\n`);
