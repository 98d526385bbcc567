// Threads that take orders: what the world refuses them keeps its code, and ends none of them; none is left under way.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { OperationError } from '../../../data/operationError.ts';
import { inOrder, OrderThreads } from '../../../data/threadsInOrder.ts';
import { temporaryDirectory } from '../../support/dataSets.ts';
import { ROOT } from '../../support/sources.ts';

const directory = temporaryDirectory();

test('an error of the world is one where it is asked for, and the thread goes on', async () => {
  const program = join(directory, 'orders.ts');
  const [orders, errors] = ['data/threadsInOrder.ts', 'data/operationError.ts'].map(
    (name) => pathToFileURL(join(ROOT, name)).href,
  );
  writeFileSync(
    program,
    `import { takeOrders } from '${orders}';
     import { OperationError } from '${errors}';
     takeOrders(({ n }) => {
       if (n === 1) throw new OperationError('memory', 'no room');
       if (n === 2) throw new TypeError('a bug');
       return { n };
     });`,
  );
  const threads = new OrderThreads(pathToFileURL(program), 1);
  const refused = threads.ask({ n: 1 });
  await expect(refused).rejects.toBeInstanceOf(OperationError);
  await expect(refused).rejects.toMatchObject({ code: 'memory', message: 'no room' });
  expect(await threads.ask({ n: 3 })).toEqual({ n: 3 });
  await expect(threads.ask({ n: 2 })).rejects.toThrow('a bug');
  await threads.close();
});

test('orders that nobody takes the results of are done before the rest goes on', async () => {
  const [begun, done]: [number[], number[]] = [[], []];
  const run = async (n: number): Promise<number> => {
    begun.push(n);
    await setTimeout(n * 5);
    done.push(n);
    if (n === 2) throw new Error('refused');
    return n;
  };
  const readAll = async (): Promise<void> => {
    for await (const _ of inOrder([1, 2, 3, 4, 5], 3, run));
  };
  await expect(readAll()).rejects.toThrow('refused');
  expect(done).toEqual(begun);
  for await (const first of inOrder([6, 7, 8], 3, run)) {
    expect(first).toBe(6);
    break;
  }
  expect(done).toEqual(begun);
  expect(begun.at(-1)).toBe(8);
});
