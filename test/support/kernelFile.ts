// The file that holds the compiled kernel, as text.

/** engine/kernel/bytes.ts for these bytes. */
export function kernelFile(bytes: Uint8Array): string {
  const base64 = Buffer.from(bytes).toString('base64');
  const lines = base64.match(/.{1,110}/g)!.map((line) => `  '${line}',`);
  return `// The compiled kernel: what test/support/compileKernel.ts makes of engine/kernel/source/. Never changed by hand: run
// \`npm run kernel\` and commit. A test compiles the sources and compares.

/** The bytes of the module, in base64. */
export const KERNEL_BASE64 = [
${lines.join('\n')}
].join('');
`;
}
