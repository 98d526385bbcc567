// Loaded into a process by --import: ends it with SIGKILL right before the nth call that changes the file system, as
// KILLED_AT_STEP says, and tells their number at its end where it says 0.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

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
] as const;
const calls = fs as unknown as Record<string, (...values: unknown[]) => unknown>;
for (const name of [...changes, 'mkdirSync']) {
  const call = calls[name]!;
  calls[name] = (...values) => {
    if (++steps === last) process.kill(process.pid, 'SIGKILL');
    return call(...values);
  };
}
syncBuiltinESMExports();
if (last === 0) process.on('exit', () => process.stdout.write(`steps: ${steps}\n`));
