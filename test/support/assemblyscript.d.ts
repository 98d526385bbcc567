// What assemblyscript.js exports, as far as it is used here, in place of the package's own types.
// See https://www.assemblyscript.org/compiler.html and https://github.com/AssemblyScript/binaryen.js for the rest.

/** A module of WebAssembly, held outside of JavaScript until it is disposed of. */
interface BinaryenModule {
  setFeatures(features: number): void;
  optimize(): void;
  validate(): number;
  emitBinary(): Uint8Array;
  dispose(): void;
}

/** Files by name, as the compiler reads, lists and writes them. */
interface CompilerFiles {
  readFile(name: string): string | null;
  writeFile(name: string, contents: string | Uint8Array): void;
  listFiles(directory: string): string[];
}

/** The compiler, called as on its command line. What it has to say of the source is in `stderr`. */
export const asc: {
  main(
    options: readonly string[],
    files: CompilerFiles,
  ): Promise<{ readonly error: Error | null; readonly stderr: { toString(): string } }>;
};

/** The optimizer and assembler of WebAssembly. */
export const binaryen: {
  readonly Features: Readonly<
    Record<
      'SIMD128' | 'Atomics' | 'BulkMemory' | 'BulkMemoryOpt' | 'MultiMemory' | 'MutableGlobals' | 'SignExt',
      number
    >
  >;
  parseText(text: string): BinaryenModule;
  setOptimizeLevel(level: number): void;
  setShrinkLevel(level: number): void;
};
