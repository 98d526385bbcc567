// The files that hold compiled AssemblyScript, as text.
import { compileEncoder, compileKernel } from './compileKernel.ts';

/** What is compiled: from where, with what, and the file and the constant that hold the bytes. */
interface Compiled {
  readonly sources: string;
  readonly compile: () => Promise<Uint8Array>;
  readonly file: string;
  readonly constant: string;
}

/** All that is compiled, in the order in which it is written. */
export const COMPILED: readonly Compiled[] = [
  {
    sources: 'engine/kernel/source/',
    compile: compileKernel,
    file: 'engine/kernel/bytes.ts',
    constant: 'KERNEL_BASE64',
  },
  {
    sources: 'data/blocks/source/',
    compile: compileEncoder,
    file: 'data/blocks/encoderBytes.ts',
    constant: 'ENCODER_BASE64',
  },
];

/** The text of the file for what is compiled now. Cost: a second. */
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
