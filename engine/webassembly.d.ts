// WebAssembly memory, as far as the engine uses it: shared, so that every thread reads one snapshot.
// Apart from ambient.d.ts because Node's own types, which the other folders see, do not declare it.

declare namespace WebAssembly {
  class Memory {
    constructor(descriptor: { initial: number; maximum: number; shared: true });
    readonly buffer: SharedArrayBuffer;
  }
}
