// Prints with every failing test the seeds that its file has drawn from, whatever the test itself says of them. Vitest
// runs this before each test file, by `setupFiles`. Properties of fast-check print their seed themselves.
import { afterEach } from 'vitest';
import { seedsMet } from './random.ts';

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
