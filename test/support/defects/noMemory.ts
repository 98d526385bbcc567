// Loaded into a process by --import: the system has memory for two processes that it starts, and for no other, which
// Node says by an exception.
import { ChildProcess } from 'node:child_process';

let started = 0;
const methods = ChildProcess.prototype as unknown as { spawn(...values: unknown[]): unknown };
const { spawn } = methods;
methods.spawn = function (...values) {
  if (++started > 2) throw Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM', syscall: 'spawn' });
  return spawn.apply(this, values);
};
