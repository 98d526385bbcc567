// The command line with `serve` only, so that a server imports no other command. Uses commander; the server's code is
// imported when it runs.
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { addSettings, example, NAME, type Outputs } from './parts.ts';
import type { Output } from './terminal.ts';
import { OperationError } from '../../data/operationError.ts';
import { readOrigins, type Settings } from '../settings/declarations.ts';
import { packageVersion, withoutSecrets } from '../settings/values.ts';
import type { Flags } from '../settings/sources.ts';

const COMMAND_LINE = fileURLToPath(new URL('./cli.ts', import.meta.url));

/** Parsing throws a CommanderError for help, version and usage errors. */
export function serveLine(outputs: Outputs): Command {
  const root = new Command(NAME)
    .description('A read replica of a scientific-data catalogue API.')
    .version(packageVersion(), '--version', 'print the version')
    .exitOverride()
    .configureHelp({ showGlobalOptions: false })
    .configureOutput({
      writeOut: (text) => outputs.stdout.write(text),
      writeErr: (text) => outputs.stderr.write(text),
      outputError: (text, write) => write(`${NAME}: ${withoutSecrets(text.replace(/^error: /, ''))}`),
    })
    .showHelpAfterError(`(${NAME} --help lists the commands, ${NAME} <command> --help shows the flags of one)`);
  addServe(root, outputs);
  return root;
}

function addServe(root: Command, { stdout, stderr }: Outputs): void {
  const command = root
    .command('serve')
    .description('Serve a snapshot file or a directory of NDJSON over HTTP; without data, a sample.');
  addSettings(command)
    .argument('[data]', 'the same as --data')
    .option('--quiet', 'on a terminal: send no requests to itself')
    .option('--check', 'print the settings with their sources and the data, and exit')
    .addHelpText('after', example('serve catalogue.snapshot --port 8080 --base-url https://catalogue.example.org'))
    .action(async (data: string | undefined, { check: isCheck, quiet: isQuiet, ...flags }: Flags) => {
      if (data !== undefined && flags['data'] !== undefined)
        throw new OperationError('usage', `${data}: the data is also named by --data: leave one out`);
      const { settings, rows } = readOrigins(data === undefined ? flags : { ...flags, data });
      if (settings.from !== undefined) {
        const { assertTarget } = await import('../../data/distribution/openTarget.ts');
        assertTarget(settings.from, rows.find(([name]) => name === 'from')?.[2]);
      }
      if (isCheck === true) {
        const { dryRunText } = await import('./dryRun.ts');
        stdout.write(`${await dryRunText(settings, rows)}\n`);
        return;
      }
      await runServe(settings, isQuiet === true, { stdout, stderr });
    });
}

async function runServe(settings: Settings, isQuiet: boolean, { stdout, stderr }: Outputs): Promise<void> {
  const [{ serve, needsStandardOutput, hasAuthority }, terminal, signals] = await Promise.all([
    import('../process/serve.ts'),
    import('./terminal.ts'),
    import('../process/signals.ts'),
  ]);
  const { isForMachines, withProgress, withReport } = terminal;
  const output = needsStandardOutput(settings) ? stderr : stdout;
  const isJson = isForMachines(settings.logFormat, output);
  await withReport(isJson, output, async (report) => {
    // In JSON logs progress is a log line.
    const progress: Output = isJson ? { write: (text) => report(text.trimEnd()) } : stderr;
    signals.outliveSignals(report);
    // The start and end of a process are logged, because a log may be read later.
    if (isJson) report(`${NAME} ${packageVersion()} on Node ${process.versions.node}, process ${process.pid}`);
    // Only on a terminal: a production server must not send itself requests.
    const isWatched = output.isTTY === true && !isJson && !isQuiet;
    const firstRun = isWatched ? await import('./firstRun.ts') : undefined;
    const heard = Promise.withResolvers<NodeJS.Signals>();
    // Before the first request there is nothing to drain, and a signal simply ends the process.
    const beforeFirst = (): void => void signals.firstSignal().then(heard.resolve);
    const starter = { commandLine: COMMAND_LINE, beforeFirst };
    const server = await serve(settings, report, (work) => withProgress(progress, work), starter);
    const stopped = signals.stopOnSignal(heard.promise, () => server.stop(), report);
    await Promise.race([stopped, firstRun?.showFirstPage(server.url, hasAuthority(settings), report)]);
    for (const line of server.welcome) report(line);
    await stopped;
    if (isJson) report('stopped');
    signals.endLingering();
  });
}
