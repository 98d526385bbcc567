// The entry point of `catalogue-replica`, on the Node that launch.js has chosen. Runs the command line and sets the
// exit code. 0: success. 1: operational error, with one message. 2: wrong usage. 3: the data of a crawl was refused and
// removed. 70: bug, with its stack.
import { CommanderError } from 'commander';
import { OperationError } from '../../data/operationError.ts';
import { isStarved } from '../../workers/starvation.ts';
import { BUG_EXIT, endWithLauncher } from '../process/signals.ts';
import { withoutSecrets } from '../settings/values.ts';
import { serveLine } from './serveCommand.ts';

// For runs without launch.js, which prevents this earlier: SIGUSR1 would open Node's inspector.
process.on('SIGUSR1', () => undefined);

const USAGE_EXIT = 2;
const OPERATION_EXIT = 1;
const DISCARDED_EXIT = 3;

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT;
  if (error instanceof OperationError) {
    const text = withoutSecrets(error.message).replace(/^/gm, 'catalogue-replica: ');
    if (!error.isLogged) process.stderr.write(`${text}\n`);
    if (error.code === 'discarded') return DISCARDED_EXIT;
    return error.code === 'usage' ? USAGE_EXIT : OPERATION_EXIT;
  }
  if (isStarved(error)) {
    process.stderr.write(
      `catalogue-replica: descriptors, threads or memory ran out (${(error as Error).message}): give the process more\n`,
    );
    return OPERATION_EXIT;
  }
  const stack = error instanceof Error ? error.stack : String(error);
  process.stderr.write(
    `catalogue-replica: this is a bug in the program, please report it with these lines\n${stack}\n`,
  );
  return BUG_EXIT;
}

async function run(): Promise<number> {
  try {
    const isServe = process.argv[2] === 'serve';
    const words = process.argv.slice(2);
    const line = isServe ? serveLine(process) : await (await import('./commands.ts')).commandLine(process, words);
    await line.parseAsync(process.argv);
    return 0;
  } catch (error) {
    return exitCodeOf(error);
  }
}

/** The reader has gone (`| head`) or the disk is full. The work continues; only a full disk is a failure. */
function onLostOutput(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') process.exitCode = OPERATION_EXIT;
}

process.on('uncaughtException', (error) => process.exit(exitCodeOf(error)));
for (const stream of [process.stdout, process.stderr]) stream.on('error', onLostOutput);
endWithLauncher();
const code = await run();
process.exitCode ||= code;
