import { commandLine } from '../../server/commands/commands.ts';

/** Parses a command line in this process, and runs the command here too. Returns the output and the thrown error. */
export async function parse(...words: readonly string[]): Promise<{ out: string; error: string; thrown: unknown }> {
  const printed = { out: '', error: '', thrown: undefined as unknown };
  const stdout = { write: (text: string): unknown => (printed.out += text) };
  const stderr = { write: (text: string): unknown => (printed.error += text) };
  const line = await commandLine({ stdout, stderr });
  await line.parseAsync(words, { from: 'user' }).catch((error: unknown) => (printed.thrown = error));
  return printed;
}
