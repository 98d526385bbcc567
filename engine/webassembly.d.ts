// WebAssembly as far as the engine uses it: memories, shared ones so that every thread reads one snapshot, and the
// kernel. Apart from ambient.d.ts because Node's own types, which the other folders see, do not declare it.

declare namespace WebAssembly {
  interface Memory {
    readonly buffer: SharedArrayBuffer;
  }

  /** A memory of one thread. Views of its buffer are empty once it has grown. */
  interface UnsharedMemory {
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }

  const Memory: {
    new (descriptor: { initial: number; maximum: number; shared: true }): Memory;
    new (descriptor: { initial: number; maximum: number }): UnsharedMemory;
  };

  interface Module {
    readonly [Symbol.toStringTag]: string;
  }

  const Module: { new (bytes: Uint8Array): Module };

  class Instance {
    constructor(module: Module, imports: { readonly memories: Readonly<Record<string, Memory | UnsharedMemory>> });
    readonly exports: object;
  }

  function validate(bytes: Uint8Array): boolean;
}
