// Prints the last seeds of a file with each of its failing tests, and gives fast-check the seed of the run. Vitest runs
// this before each test file (`setupFiles`). fast-check prints its own seeds.
import fc from 'fast-check';
import { afterEach } from 'vitest';
import { killChildrenOnSigterm } from './childProcesses.ts';
import { RUN_SEED, seedsMet } from './random.ts';

killChildrenOnSigterm();
fc.configureGlobal({ seed: RUN_SEED });

afterEach(({ task }) => {
  if (seedsMet.length === 0) return;
  for (const error of task.result?.errors ?? []) {
    const { message, stack } = error;
    const named = seedsMet.length === 1 ? 'seed' : 'seeds, the last one last:';
    error.message = `${message}\n(drawn from ${named} ${seedsMet.join(', ')})`;
    // Reports print the stack, whose first lines are the message.
    if (stack !== undefined) error.stack = stack.replace(message, () => error.message);
  }
});
