// Commands that a test file starts and leaves running: each is ended behind its test, however that went.
import { afterEach } from 'vitest';
import { type Addresses, type CommandOptions, type CommandProcess, runCommand, runServer } from './commandProcess.ts';

/** What starts soon: with one thread, and nothing compressed in advance, unless the words say otherwise. */
const SOON = ['--threads', '1', '--gzip', 'live'];

/** `start` runs any command, `startServe` serve as it is told, `startServer` serve on free ports until it listens. */
export interface EndedCommands {
  start(words: readonly string[], options?: CommandOptions): CommandProcess;
  startServe(words: readonly string[], options?: CommandOptions): CommandProcess;
  startServer(...words: readonly string[]): Promise<CommandProcess & Addresses>;
}

/** For the whole file, where it is called at the top. */
export function endedCommands(): EndedCommands {
  const running: CommandProcess[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((command) => command.kill()));
  });
  const ended = <C extends CommandProcess>(command: C): C => {
    running.push(command);
    return command;
  };
  return {
    start: (words, options) => ended(runCommand(words, options)),
    startServe: (words, options) => ended(runCommand(['serve', ...SOON, ...words], options)),
    startServer: async (...words) => ended(await runServer([...SOON, ...words])),
  };
}
