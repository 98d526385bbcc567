// A preload that makes one allocation of a server fail, the n-th of all its threads: a thread, memory that threads
// share, or memory of WebAssembly. As the system would refuse it, and once. Nothing of it is in the product.
import { mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Flags of Node for a server whose n-th allocation fails, from 1 on, and how many it has asked for so far. */
export interface FailedAllocation {
  readonly node: readonly string[];
  asked(): number;
}

/** The n-th fails; its files lie in a directory. */
export function failedAllocation(directory: string, n: number): FailedAllocation {
  const own = mkdtempSync(join(directory, 'allocation-'));
  const count = join(own, 'count');
  writeFileSync(count, '');
  const preload = join(own, 'preload.mjs');
  writeFileSync(
    preload,
    `import { appendFileSync, statSync } from 'node:fs';
     import module from 'node:module';
     import worker from 'node:worker_threads';
     const file = ${JSON.stringify(count)};
     const isRefused = () => {
       appendFileSync(file, '.');
       return statSync(file).size === ${n};
     };
     const refusing = (Made, error) => new Proxy(Made, {
       construct(made, words, target) {
         if (isRefused()) throw error();
         return Reflect.construct(made, words, target);
       },
     });
     const starved = () =>
       Object.assign(new Error('Worker initialization failure: EMFILE'), { code: 'ERR_WORKER_INIT_FAILED' });
     const noMemory = (what) => () => new RangeError(what);
     const plant = (place, name, error) => {
       place[name] = refusing(place[name], error);
     };
     plant(worker, 'Worker', starved);
     plant(WebAssembly, 'Memory', noMemory('WebAssembly.Memory(): could not allocate memory'));
     plant(globalThis, 'SharedArrayBuffer', noMemory('Array buffer allocation failed'));
     module.syncBuiltinESMExports();`,
  );
  return { node: ['--import', preload], asked: () => statSync(count).size };
}
