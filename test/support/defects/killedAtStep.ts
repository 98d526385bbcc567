// Loaded by --import. Sends SIGKILL to its process right before the nth call that changes the file system
// (KILLED_AT_STEP=n). With n = 0 it prints the number of these calls at exit.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const last = Number(process.env['KILLED_AT_STEP']);
let steps = 0;
const changes = [
  'openSync',
  'writeSync',
  'writeFileSync',
  'fsyncSync',
  'ftruncateSync',
  'renameSync',
  'rmSync',
  'linkSync',
  'utimesSync',
] as const;
type Calls = Record<string, (...values: unknown[]) => unknown>;
function count(object: object, names: readonly string[]): void {
  const calls = object as Calls;
  for (const name of names) {
    const call = calls[name]!;
    calls[name] = function (...values) {
      if (++steps === last) process.kill(process.pid, 'SIGKILL');
      return call.apply(this, values);
    };
  }
}
count(fs, [...changes, 'mkdirSync']);
count(fs.promises, ['open', 'rename', 'rm', 'truncate', 'writeFile']);
const handle = await fs.promises.open(process.execPath);
count(Object.getPrototypeOf(handle) as object, ['write', 'sync', 'truncate']);
await handle.close();
syncBuiltinESMExports();
// The clock runs ten times slower, so that no periodic save happens and every run has the same steps.
const { hrtime } = process;
const slowed = (): [number, number] => {
  const time = hrtime.bigint() / 10n;
  return [Number(time / 1_000_000_000n), Number(time % 1_000_000_000n)];
};
process.hrtime = Object.assign(slowed, { bigint: hrtime.bigint.bind(hrtime) });
// Threads exit before the process.
if (last === 0 && isMainThread) process.on('exit', () => process.stdout.write(`steps: ${steps}\n`));
