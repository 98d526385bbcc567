// Compiles AssemblyScript to text and the text to bytes: the deflate encoder and the memory kernel. AssemblyScript
// supports one memory. The kernel declares the functions that access further memories, and memories.wat defines them.
// `npm run kernel` runs this file, which then writes the compiled files.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const KERNEL_SOURCES = 'engine/kernel/source/';
const ENCODER_SOURCES = 'data/blocks/source/';
const OPTIONS =
  'module.ts --textFile module.wat --runtime stub -O3 --noAssert --noExportMemory --importMemory --enable simd ' +
  '--enable bulk-memory --maximumMemory 65536';
const SHARED_MEMORY = '--sharedMemory --initialMemory 1 --enable threads';

interface Compiled {
  readonly sources: string;
  readonly compile: () => Promise<Uint8Array>;
  readonly file: string;
  readonly constant: string;
}

/** The compiled modules: their sources, and the file and the constant with the bytes. */
export const COMPILED: readonly Compiled[] = [
  {
    sources: KERNEL_SOURCES,
    compile: async () => {
      const text = await textOf(source(`${KERNEL_SOURCES}kernel.as`), `${OPTIONS} ${SHARED_MEMORY}`);
      return assembled(linked(text, source(`${KERNEL_SOURCES}memories.wat`)));
    },
    file: 'engine/kernel/bytes.ts',
    constant: 'KERNEL_BASE64',
  },
  {
    sources: ENCODER_SOURCES,
    compile: async () => {
      const text = await textOf(source(`${ENCODER_SOURCES}encoder.as`), `${OPTIONS} --initialMemory 2`);
      return assembled(text.replace('(import "env" "memory"', '(import "memories" "own"'));
    },
    file: 'data/blocks/encoderBytes.ts',
    constant: 'ENCODER_BASE64',
  },
];

/** The text of the generated file. Rejects with the compiler's message. Cost: a second. */
export async function compiledFile({ sources, compile, constant }: Compiled): Promise<string> {
  const base64 = Buffer.from(await compile()).toString('base64');
  const lines = base64.match(/.{1,110}/g)!.map((line) => `  '${line}',`);
  return `// What test/support/compileKernel.ts makes of ${sources}. Never changed by hand: run \`npm run kernel\`
// and commit. A test compiles the sources and compares.

/** The bytes of the module, in base64. */
export const ${constant} = [
${lines.join('\n')}
].join('');
`;
}

/** The compiler, called as on its command line. `stderr` receives its messages about the source. */
interface Compiler {
  main(
    options: readonly string[],
    files: {
      readFile(name: string): string | null;
      writeFile(name: string, contents: string | Uint8Array): void;
      listFiles(directory: string): string[];
    },
  ): Promise<{ readonly error: Error | null; readonly stderr: { toString(): string } }>;
}

/** The optimizer and assembler of WebAssembly. */
interface Binaryen {
  readonly Features: Readonly<Record<string, number>>;
  parseText(text: string): {
    setFeatures(features: number): void;
    optimize(): void;
    validate(): number;
    emitBinary(): Uint8Array;
  };
  setOptimizeLevel(level: number): void;
  setShrinkLevel(level: number): void;
}

// Loads by path, without the types of the package. Those declare globals, among them `max` and an `at` that never
// returns undefined, which TypeScript would then assume in every file.
async function load(path: string): Promise<unknown> {
  const { href } = new URL(`../assemblyscript/node_modules/${path}`, import.meta.url);
  return ((await import(href)) as { readonly default: unknown }).default;
}

async function textOf(script: string, options: string): Promise<string> {
  let text = '';
  const compiler = (await load('assemblyscript/dist/asc.js')) as Compiler;
  const { error, stderr } = await compiler.main(options.split(' '), {
    readFile: (name) => (name === 'module.ts' ? script : null),
    writeFile: (_, contents) => void (text = String(contents)),
    listFiles: () => [],
  });
  if (error) throw new Error(`${error.message}\n${stderr.toString()}`);
  return text;
}

const FEATURES = ['SIMD128', 'Atomics', 'BulkMemory', 'BulkMemoryOpt', 'MultiMemory', 'MutableGlobals', 'SignExt'];

async function assembled(text: string): Promise<Uint8Array> {
  const binaryen = (await load('binaryen/index.js')) as Binaryen;
  const module = binaryen.parseText(text);
  module.setFeatures(FEATURES.reduce((features, name) => features | binaryen.Features[name]!, 0));
  binaryen.setOptimizeLevel(3);
  binaryen.setShrinkLevel(0);
  module.optimize();
  if (!module.validate()) throw new Error('the module is not valid');
  return module.emitBinary();
}

function source(name: string): string {
  return readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
}

const MEMORIES = [
  '(import "memories" "source" (memory $0 1 65536 shared))',
  '(import "memories" "positions" (memory $positions 1 65536 shared))',
  '(import "memories" "own" (memory $own 1 65536))',
];

/** The module with its three memories, with the definitions of the declared functions of the same names. */
function linked(text: string, definitions: string): string {
  return text
    .replace(/\(import "env" "memory" .*\n/, `${MEMORIES.join('\n')}\n`)
    .replaceAll(/^ *\(import "memories" "\w+" \(func .*\n/gm, '')
    .replaceAll(/\$module\/(\w+)/g, (name, short: string) =>
      definitions.includes(`(func $${short} `) ? `$${short}` : name,
    )
    .replace(/\)\s*$/, `${definitions})\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const compiled of COMPILED)
    writeFileSync(new URL(`../../${compiled.file}`, import.meta.url), await compiledFile(compiled));
}
