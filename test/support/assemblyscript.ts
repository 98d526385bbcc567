// The compiler of AssemblyScript and its binaryen. Loaded by path, without the types of the package: these declare
// globals, among them `max` and an `at` that never gives undefined, which TypeScript would then believe of every file.
// See https://www.assemblyscript.org/compiler.html and https://github.com/AssemblyScript/binaryen.js.

const MODULES = '../assemblyscript/node_modules/';

/** A module of WebAssembly, stored outside of JavaScript until `dispose`. */
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

/** The compiler, called as on its command line. `stderr` has its messages about the source. */
interface Compiler {
  main(
    options: readonly string[],
    files: CompilerFiles,
  ): Promise<{ readonly error: Error | null; readonly stderr: { toString(): string } }>;
}

/** The optimizer and assembler of WebAssembly. */
interface Binaryen {
  readonly Features: Readonly<
    Record<
      'SIMD128' | 'Atomics' | 'BulkMemory' | 'BulkMemoryOpt' | 'MultiMemory' | 'MutableGlobals' | 'SignExt',
      number
    >
  >;
  parseText(text: string): BinaryenModule;
  setOptimizeLevel(level: number): void;
  setShrinkLevel(level: number): void;
}

/** Loads the compiler. Rejects if test/assemblyscript is not installed. */
export async function loadCompiler(): Promise<Compiler> {
  return (await load('assemblyscript/dist/asc.js')) as Compiler;
}

/** Loads the assembler. Rejects if test/assemblyscript is not installed. */
export async function loadBinaryen(): Promise<Binaryen> {
  return (await load('binaryen/index.js')) as Binaryen;
}

async function load(path: string): Promise<unknown> {
  const module = (await import(new URL(MODULES + path, import.meta.url).href)) as { readonly default: unknown };
  return module.default;
}
