// Imports a data set once, whole or with an earlier snapshot. Prints the nanoseconds of CPU of all threads, and the
// generation. A separate process, so that the memory of one import is freed before the next.
import { readFileSync, writeFileSync } from 'node:fs';
import type { Origin } from '../../data/import/earlier.ts';
import { importDirectory } from '../../data/import/import.ts';

const [directory, file, originFile, earlierFile] = process.argv.slice(2) as [string, string, string, string?];
const earlier = earlierFile === undefined ? undefined : { file: earlierFile, origin: read(originFile) };
const before = process.cpuUsage();
const options = { directory, file, created: undefined, isLenient: false, threads: 2, earlier };
const { generation, origin } = await importDirectory(options, () => undefined);
const { user, system } = process.cpuUsage(before);
if (!earlier) writeFileSync(originFile, JSON.stringify(origin));
process.stdout.write(`${(user + system) * 1000} ${generation}\n`);

function read(path: string): Origin {
  return JSON.parse(readFileSync(path, 'utf8')) as Origin;
}
