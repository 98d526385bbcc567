// The command line run to its end as people run it, without any CATALOGUE_ variable of the surroundings.
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../server/commands/cli.ts', import.meta.url));

/** `script` is another program than the command line, `node` are flags of Node itself. */
export interface SpawnedOptions {
  readonly script?: string;
  readonly environment?: object;
  readonly node?: readonly string[];
}

/** What a command printed and how it ended. Blocks until then. */
export function spawnedCommand(words: readonly string[], options: SpawnedOptions = {}): SpawnSyncReturns<string> {
  const surroundings = Object.entries(process.env).filter(([name]) => !name.startsWith('CATALOGUE_'));
  const env = { ...Object.fromEntries(surroundings), NO_COLOR: '1', ...options.environment };
  const argv = [...(options.node ?? []), options.script ?? CLI, ...words];
  return spawnSync(process.execPath, argv, { encoding: 'utf8', env });
}
