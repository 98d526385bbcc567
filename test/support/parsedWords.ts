// A command line as it is parsed in this process: for tests of what it prints and refuses. Runs no program; what a
// command does, it does here.
import { commandLine } from '../../server/commands/commands.ts';

/** Parses these words; answers what was printed and thrown. */
export async function parse(...words: readonly string[]): Promise<{ out: string; error: string; thrown: unknown }> {
  const printed = { out: '', error: '', thrown: undefined as unknown };
  const stdout = { write: (text: string): unknown => (printed.out += text) };
  const stderr = { write: (text: string): unknown => (printed.error += text) };
  const line = await commandLine({ stdout, stderr });
  await line.parseAsync(words, { from: 'user' }).catch((error: unknown) => (printed.thrown = error));
  return printed;
}
