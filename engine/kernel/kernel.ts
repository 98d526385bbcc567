// The memory kernel: copies, splices, searches and counts bytes in shared memory, at the speed of memory. Compiled from
// committed bytes; one instance per thread and pair of memories. A page costs 1.24 times as much as reading its bytes
// from uncached memory. With a copy in JavaScript it would cost 2.6 times as much.
import { KERNEL_BASE64 } from './bytes.ts';
import type { Kernel } from './contract.ts';
import { scratch, type Scratch } from './own.ts';

/** Returns a function that compiles a module from base64: once per thread, at its first call, in half a millisecond. */
export function compileOnce(base64: string): () => WebAssembly.Module {
  let compiled: WebAssembly.Module | undefined;
  return () =>
    (compiled ??= new WebAssembly.Module(Uint8Array.from(atob(base64), (character) => character.codePointAt(0)!)));
}

const kernelModule = compileOnce(KERNEL_BASE64);

/**
 * A new kernel that reads bytes from `source` and link positions from `positions`, and writes to `memory`. `source` and
 * `positions` may be the same memory. Cost: about 10 us.
 */
export function newKernel(source: WebAssembly.Memory, positions: WebAssembly.Memory, memory: Scratch): Kernel {
  const memories = { source, positions, own: memory.memory };
  return new WebAssembly.Instance(kernelModule(), { memories }).exports as Kernel;
}

/** Makes the kernels of this thread; tests replace `make`. */
export const kernels: { make: typeof newKernel } = { make: newKernel };

const kernelsByMemory = new WeakMap<WebAssembly.Memory, WeakMap<WebAssembly.Memory, Kernel>>();
const kernelsByBuffer = new WeakMap<ArrayBufferLike, Kernel>();

/** This thread's kernel for two memories, made at the first call. Cost: that of `newKernel` the first time. */
export function kernelBetween(source: WebAssembly.Memory, positions: WebAssembly.Memory): Kernel {
  let ofSource = kernelsByMemory.get(source);
  if (!ofSource) kernelsByMemory.set(source, (ofSource = new WeakMap()));
  let kernel = ofSource.get(positions);
  if (!kernel) {
    kernel = kernels.make(source, positions, scratch);
    ofSource.set(positions, kernel);
    kernelsByBuffer.set(source.buffer, kernel);
  }
  return kernel;
}

/** A kernel that reads from `buffer`, if this thread has one for its memory. Cost: one look-up. */
export function findKernel(buffer: ArrayBufferLike): Kernel | undefined {
  return kernelsByBuffer.get(buffer);
}

let scratchKernel: Kernel | undefined;

/** A kernel for work within the thread's own memory. Cost: that of `newKernel` the first time. */
export function kernelForScratch(): Kernel {
  if (scratchKernel) return scratchKernel;
  const empty = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  return (scratchKernel = kernels.make(empty, empty, scratch));
}
