// The parts of WebAssembly that the engine uses: memories, of which shared ones let every thread read one snapshot, and
// the kernel. Separate from ambient.d.ts, because Node's types, which the other folders use, do not declare it.

declare namespace WebAssembly {
  interface Memory {
    readonly buffer: SharedArrayBuffer;
  }

  /** A memory of one thread. Views of its buffer are empty after it has grown. */
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
