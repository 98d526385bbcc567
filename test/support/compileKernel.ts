// Compiles what is written in AssemblyScript, to text and that to bytes: the encoder of deflate, and the memory kernel,
// where the functions that reach further memories are put in between. AssemblyScript knows one memory, so what needs
// more is declared there and defined in memories.wat.
import { readFileSync } from 'node:fs';
import { loadBinaryen, loadCompiler } from './assemblyscript.ts';

const KERNEL_SOURCES = 'engine/kernel/source/';
const ENCODER_SOURCE = 'data/blocks/source/encoder.as';
const OPTIONS =
  'module.ts --textFile module.wat --runtime stub -O3 --noAssert --noExportMemory --importMemory --enable simd ' +
  '--enable bulk-memory --maximumMemory 65536';
const SHARED_MEMORY = '--sharedMemory --initialMemory 1 --enable threads';

/** The bytes of the kernel, compiled from its sources. Rejects with the compiler's message. Cost: a second. */
export async function compileKernel(): Promise<Uint8Array> {
  const text = await textOf(source(`${KERNEL_SOURCES}kernel.as`), `${OPTIONS} ${SHARED_MEMORY}`);
  return assembled(linked(text, source(`${KERNEL_SOURCES}memories.wat`)));
}

/** The bytes of the encoder, as `compileKernel`. */
export async function compileEncoder(): Promise<Uint8Array> {
  const text = await textOf(source(ENCODER_SOURCE), `${OPTIONS} --initialMemory 2`);
  return assembled(text.replace('(import "env" "memory"', '(import "memories" "own"'));
}

async function assembled(text: string): Promise<Uint8Array> {
  const binaryen = await loadBinaryen();
  const module = binaryen.parseText(text);
  const { SIMD128, Atomics, BulkMemory, MultiMemory, MutableGlobals, SignExt } = binaryen.Features;
  module.setFeatures(
    SIMD128 | Atomics | BulkMemory | binaryen.Features.BulkMemoryOpt | MultiMemory | MutableGlobals | SignExt,
  );
  binaryen.setOptimizeLevel(3);
  binaryen.setShrinkLevel(0);
  module.optimize();
  if (!module.validate()) throw new Error('the module is not valid');
  const bytes = module.emitBinary();
  module.dispose();
  return bytes;
}

function source(name: string): string {
  return readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
}

async function textOf(script: string, options: string): Promise<string> {
  let text = '';
  const compiler = await loadCompiler();
  const { error, stderr } = await compiler.main(options.split(' '), {
    readFile: (name) => (name === 'module.ts' ? script : null),
    writeFile: (_, contents) => void (text = String(contents)),
    listFiles: () => [],
  });
  if (error) throw new Error(`${error.message}\n${stderr.toString()}`);
  return text;
}

const MEMORIES = [
  '(import "memories" "source" (memory $0 1 65536 shared))',
  '(import "memories" "positions" (memory $positions 1 65536 shared))',
  '(import "memories" "own" (memory $own 1 65536))',
];

/** The module with its three memories, and the declared functions replaced by the defined ones of the same names. */
function linked(text: string, definitions: string): string {
  return text
    .replace(/\(import "env" "memory" .*\n/, `${MEMORIES.join('\n')}\n`)
    .replaceAll(/^ *\(import "memories" "\w+" \(func .*\n/gm, '')
    .replaceAll(/\$module\/(\w+)/g, (name, short: string) =>
      definitions.includes(`(func $${short} `) ? `$${short}` : name,
    )
    .replace(/\)\s*$/, `${definitions})\n`);
}
