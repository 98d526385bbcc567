// Compiles the memory kernel: AssemblyScript to text, the functions that reach further memories put in, text to bytes.
// AssemblyScript knows one memory, so what needs more is declared there and defined in memories.wat.
import { readFileSync } from 'node:fs';
import { asc, binaryen } from './assemblyscript.js';

const SOURCES = new URL('../../engine/kernel/source/', import.meta.url);
const OPTIONS =
  'kernel.ts --textFile kernel.wat --runtime stub -O3 --noAssert --noExportMemory --importMemory --sharedMemory ' +
  '--initialMemory 1 --maximumMemory 65536 --enable simd --enable threads --enable bulk-memory';

/** The bytes of the kernel, compiled from its sources. Rejects with the compiler's message. Cost: a second. */
export async function compileKernel(): Promise<Uint8Array> {
  const module = binaryen.parseText(linked(await textOfKernel(), source('memories.wat')));
  const { SIMD128, Atomics, BulkMemory, MultiMemory, MutableGlobals, SignExt } = binaryen.Features;
  module.setFeatures(
    SIMD128 | Atomics | BulkMemory | binaryen.Features.BulkMemoryOpt | MultiMemory | MutableGlobals | SignExt,
  );
  binaryen.setOptimizeLevel(3);
  binaryen.setShrinkLevel(0);
  module.optimize();
  if (!module.validate()) throw new Error('the linked kernel is not valid');
  const bytes = module.emitBinary();
  module.dispose();
  return bytes;
}

function source(name: string): string {
  return readFileSync(new URL(name, SOURCES), 'utf8');
}

async function textOfKernel(): Promise<string> {
  let text = '';
  const { error, stderr } = await asc.main(OPTIONS.split(' '), {
    readFile: (name) => (name === 'kernel.ts' ? source('kernel.as') : null),
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
    .replaceAll(/\$kernel\/(\w+)/g, (name, short: string) =>
      definitions.includes(`(func $${short} `) ? `$${short}` : name,
    )
    .replace(/\)\s*$/, `${definitions})\n`);
}
