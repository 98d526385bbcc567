// Loaded by --import. The system has memory for one child process only. For any other, Node throws an exception.
import { ChildProcess } from 'node:child_process';

let started = 0;
const methods = ChildProcess.prototype as unknown as { spawn(...values: unknown[]): unknown };
const { spawn } = methods;
methods.spawn = function (...values) {
  if (++started > 1) throw Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM', syscall: 'spawn' });
  return spawn.apply(this, values);
};
