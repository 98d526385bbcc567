// The memory kernel: copies, splices, searches and counts bytes where they lie in shared memory, at the speed of
// memory. Made of committed bytes, one instance for each pair of memories and thread. With a copy in JavaScript a page
// costs 2.6 of a cold view of its bytes, in place of 1.24.
import { KERNEL_BASE64 } from './bytes.ts';
import type { Kernel } from './contract.ts';
import { own, type Own } from './own.ts';

/** What makes a module of its bytes in base64: once a thread, in half a millisecond, when it is first asked. */
export function compiledOnce(base64: string): () => WebAssembly.Module {
  let compiled: WebAssembly.Module | undefined;
  return () =>
    (compiled ??= new WebAssembly.Module(Uint8Array.from(atob(base64), (character) => character.codePointAt(0)!)));
}

const kernelModule = compiledOnce(KERNEL_BASE64);

/**
 * A new kernel that reads bytes from `source` and positions of links from `positions`, which may be the same memory,
 * and writes to `memory`. Cost: some 10 us.
 */
export function newKernel(source: WebAssembly.Memory, positions: WebAssembly.Memory, memory: Own): Kernel {
  const memories = { source, positions, own: memory.memory };
  return new WebAssembly.Instance(kernelModule(), { memories }).exports as Kernel;
}

/** What makes the kernels of this thread from now on; tests set another one. */
export const kernels: { make: typeof newKernel } = { make: newKernel };

const known = new WeakMap<WebAssembly.Memory, WeakMap<WebAssembly.Memory, Kernel>>();
const bySource = new WeakMap<ArrayBufferLike, Kernel>();

/**
 * This thread's kernel between two memories: the same whenever it is asked for. Cost: that of `newKernel` the first
 * time.
 */
export function kernelBetween(source: WebAssembly.Memory, positions: WebAssembly.Memory): Kernel {
  let ofSource = known.get(source);
  if (!ofSource) known.set(source, (ofSource = new WeakMap()));
  let kernel = ofSource.get(positions);
  if (!kernel) {
    kernel = kernels.make(source, positions, own);
    ofSource.set(positions, kernel);
    bySource.set(source.buffer, kernel);
  }
  return kernel;
}

/** A kernel that reads from this buffer, if it is that of a memory that a kernel was made for. Cost: one look-up. */
export function kernelOf(buffer: ArrayBufferLike): Kernel | undefined {
  return bySource.get(buffer);
}

let alone: Kernel | undefined;

/** A kernel for work within the thread's own memory. Cost: that of `newKernel` the first time. */
export function ownKernel(): Kernel {
  if (alone) return alone;
  const empty = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  return (alone = kernels.make(empty, empty, own));
}
