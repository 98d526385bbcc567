// Loads a snapshot once, as `serve` does. Prints the nanoseconds that took, and the generation: a process of its own,
// so that the memory of one load is gone before the next.
import { loadSnapshot } from '../../data/store/load.ts';
import { BENCH_BASE_URL } from '../processes/processes.ts';

const start = process.hrtime.bigint();
const { generation } = await loadSnapshot(process.argv[2]!, { baseUrl: BENCH_BASE_URL });
process.stdout.write(`${process.hrtime.bigint() - start} ${generation}\n`);
