// The commands: their flags, help and what each calls. Built on commander; every command loads its code when it runs,
// so that --help is quick.
import { Command, Option } from 'commander';
import { readdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { OperationError } from '../../data/operationError.ts';
import { addAuthority } from './authority/commands.ts';
import type { ChangeFormat } from './changes.ts';
import type { CrawlFlags } from './crawl.ts';
import type { FieldFormat } from './fields.ts';
import type { FollowFlags } from './follow.ts';
import { example, NAME, type Outputs, valueOption } from './parts.ts';
import type { Output } from './terminal.ts';
import { readOrigins, readSettings, SETTINGS } from '../settings/declarations.ts';
import { packageVersion } from '../settings/installation.ts';
import { flagName, type Flags, type Setting } from '../settings/sources.ts';
import {
  BASE_URL,
  CONTACT,
  DAY_MS,
  durationBetween,
  GENERATION,
  integerBetween,
  numberBetween,
  oneOf,
  PATH,
  SWITCH,
  TARGET,
} from '../settings/values.ts';

const SETTINGS_HINT = `
Every flag that serve has is also an environment variable (--filter-errors is CATALOGUE_FILTER_ERRORS) and a
key in the TOML file named by --config (filterErrors). A flag wins over the environment, that over the file.`;

/** The whole command line. Parsing throws a CommanderError for help, version and usage errors instead of exiting. */
export function commandLine(outputs: Outputs): Command {
  const root = new Command(NAME)
    .description('A read replica of a scientific-data catalogue API.')
    .version(packageVersion(), '--version', 'print the version')
    .exitOverride()
    .configureHelp({ showGlobalOptions: false })
    .configureOutput({
      writeOut: (text) => outputs.stdout.write(text),
      writeErr: (text) => outputs.stderr.write(text),
      outputError: (text, write) => write(`${NAME}: ${text.replace(/^error: /, '')}`),
    })
    .showHelpAfterError(`(${NAME} --help lists the commands, ${NAME} <command> --help shows the flags of one)`);
  addServe(root, outputs);
  addImport(root, outputs);
  addVerify(root, outputs);
  addPublish(root, outputs);
  addPrune(root, outputs);
  addGenerate(root, outputs);
  addCrawl(root, outputs);
  addFollow(root, outputs);
  addDiff(root, outputs);
  addChanges(root, outputs);
  addExplain(root, outputs);
  addFields(root, outputs);
  addAuthority(root, outputs);
  return root;
}

function addServe(root: Command, { stdout, stderr }: Outputs): void {
  const command = root.command('serve').description('Serve a snapshot file or a directory of NDJSON over HTTP.');
  addSettings(command)
    .option('--check', 'say what would run, with where each setting comes from, and stop')
    .addHelpText(
      'after',
      example('serve --data catalogue.snapshot --port 8080 --base-url https://catalogue.example.org'),
    )
    .action(async ({ check: isCheck, ...flags }: Flags) => {
      const { settings, origins } = readOrigins(flags);
      if (isCheck === true) {
        const { dryRunText } = await import('./dryRun.ts');
        stdout.write(`${await dryRunText(settings, origins)}\n`);
        return;
      }
      const [{ serve, needsStandardOutput }, { reportTo, withProgress }, { outliveSignals, stopOnSignal }] =
        await Promise.all([import('../process/serve.ts'), import('./terminal.ts'), import('../process/signals.ts')]);
      const output = needsStandardOutput(settings) ? stderr : stdout;
      const { logFormat } = settings;
      const isJson = logFormat === 'json' || (logFormat === 'auto' && output.isTTY !== true);
      const report = reportTo(output, isJson);
      // Progress is told like all else where lines are for machines.
      const progress: Output = isJson ? { write: (text) => report(text.trimEnd()) } : stderr;
      outliveSignals(report);
      const server = await serve(settings, report, (work) => withProgress(progress, work));
      const stopped = stopOnSignal(() => server.stop(), report);
      // Behind the listeners for signals: whoever reads these lines may send one at once.
      for (const line of server.welcome) report(line);
      await stopped;
    });
}

interface ImportFlags {
  readonly output: string;
  readonly created?: string;
  readonly lenient?: boolean;
  readonly without?: string;
  readonly threads: number;
  readonly baseUrl?: string;
}

function addImport(root: Command, { stdout, stderr }: Outputs): void {
  root
    .command('import')
    .description('Build a snapshot file from a directory of <collection>.ndjson[.gz] files.')
    .argument('<directory>', 'directory of NDJSON files')
    .requiredOption('-o, --output <file>', 'snapshot file to write')
    .option('--created <time>', 'time of the data, for Last-Modified (default: created of MANIFEST.json)')
    .option('--without <variants>', 'index variants to leave out, of grams,bitmaps: smaller, same answers, some slower')
    .option('--lenient', 'skip and count wrong lines instead of stopping at the first')
    .addOption(valueOption('--threads', 'decoding threads', THREADS).default(availableParallelism(), 'number of cores'))
    .addOption(
      valueOption('--base-url', 'compress the records for this base URL too, so that serve need not', BASE_URL),
    )
    .addHelpText('after', example('import catalogue/ -o catalogue.snapshot'))
    .action(async (directory: string, { output, created, lenient = false, threads, baseUrl, without }: ImportFlags) => {
      const [{ importDirectory }, { keepBlocks }, { withProgress }, { importText }] = await Promise.all([
        import('../../data/import/import.ts'),
        import('../../data/blocks/blockStore.ts'),
        import('./terminal.ts'),
        import('./reports.ts'),
      ]);
      refuseDirectory(output);
      const options = { directory, file: output, created, isLenient: lenient, threads, without };
      const report = await withProgress(stderr, (onProgress) => importDirectory(options, onProgress));
      stdout.write(`${importText(report, output)}\n`);
      if (baseUrl === undefined) return;
      const blocks = await withProgress(stderr, (onProgress) => keepBlocks(output, { baseUrl, threads }, onProgress));
      stdout.write(`${blocks}: the records compressed for ${baseUrl}\n`);
    });
}

/** Before the import, which may take minutes: only its last step, the move to that name, would find out. */
function refuseDirectory(output: string): void {
  if (!statSync(output, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new OperationError('usage', `--output ${output} is a directory; want the name of the file to write`);
}

function addVerify(root: Command, { stdout, stderr }: Outputs): void {
  root
    .command('verify')
    .description('Check a snapshot file: magic, version, lengths, alignment, checksums, schema, offsets, order.')
    .argument('<file>', 'snapshot file')
    .option('--deep', DEEP_HELP)
    .addHelpText('after', example('verify --deep catalogue.snapshot'))
    .action(async (file: string, { deep: isDeep = false }: { readonly deep?: boolean }) => {
      const [{ differencesIn, verifyFile }, { withProgress }, { verifyText }] = await Promise.all([
        import('../../data/store/verify.ts'),
        import('./terminal.ts'),
        import('./reports.ts'),
      ]);
      const report = await withProgress(stderr, (onProgress) => verifyFile(file, onProgress, isDeep));
      const differences = differencesIn(report);
      stdout.write(`${verifyText(report, file)}\n`);
      if (differences !== undefined) throw new OperationError('snapshot', `${file}:\n${differences}`);
    });
}

const DEEP_HELP =
  'compare every value, link and embedded row with the records too: memory as for serving, 2 us a value';

/** Settings of `serve` that a publisher has too. */
const PUBLISHER_SETTINGS = ['natsCredentials', 'natsCa', 'logFormat', 'config'];

function addPublish(root: Command, outputs: Outputs): void {
  const command = root
    .command('publish')
    .description('Put a snapshot file where replicas fetch it (serve --from), and point to it.')
    .argument('<file>', 'snapshot file; what import --base-url compressed goes with it')
    .requiredOption('--to <target>', `where: ${PUBLISHED_FORMS}`)
    .option('--allow-rollback', 'publish even where the data is older than what is current')
    .addOption(valueOption('--nats-replicas', 'servers that a new NATS bucket lies on', NATS_REPLICAS).default(1));
  addSettings(command, PUBLISHER_SETTINGS)
    .addHelpText('after', example('publish catalogue.snapshot --to file:///srv/snapshots'))
    .action(
      async (file: string, { to, natsReplicas: replicas, ...flags }: Flags & { to: string; natsReplicas: number }) => {
        const { runPublish } = await import('./publish.ts');
        await runPublish({ file, to, replicas }, flags, outputs);
      },
    );
}

function addPrune(root: Command, outputs: Outputs): void {
  const command = root
    .command('prune')
    .description('Remove from a target what is neither current nor of the generations right before.')
    .argument('<target>', PUBLISHED_FORMS)
    .addOption(valueOption('--keep', 'generations to keep, the current one included', KEEP).makeOptionMandatory());
  addSettings(command, PUBLISHER_SETTINGS)
    .addHelpText('after', example('prune file:///srv/snapshots --keep 3'))
    .action(async (target: string, { keep, ...flags }: Flags & { readonly keep: number }) => {
      const { runPrune } = await import('./publish.ts');
      await runPrune(target, keep, flags, outputs);
    });
}

interface GenerateFlags {
  readonly observations: number;
  readonly seed: number;
  readonly output: string;
  readonly gzip?: boolean;
  readonly force?: boolean;
}

function addGenerate(root: Command, { stdout, stderr }: Outputs): void {
  root
    .command('generate')
    .description('Write a made-up catalogue of any size as NDJSON; the same seed gives the same bytes everywhere.')
    .addOption(valueOption('--observations', 'observations to write', OBSERVATIONS).makeOptionMandatory())
    .addOption(valueOption('--seed', 'start of the random numbers', SEED).default(1))
    .requiredOption('-o, --output <directory>', 'directory to write to')
    .option('--gzip', 'write .ndjson.gz files')
    .option('--force', 'write even where the directory is not empty')
    .addHelpText('after', example('generate --observations 100000 --seed 7 -o catalogue/'))
    .action(async ({ observations, seed, output, gzip = false, force = false }: GenerateFlags) => {
      if (!force) refuseFilled(output);
      const [{ generate }, { withProgress }, { bytesText, countText }] = await Promise.all([
        import('../../data/synth/generate.ts'),
        import('./terminal.ts'),
        import('../observe/quantities.ts'),
      ]);
      const options = { observations, seed, directory: output, gzip };
      const { records, bytes, collections } = await withProgress(stderr, (onProgress) => generate(options, onProgress));
      const count = Object.keys(collections).length;
      stdout.write(`${output}: ${countText(records)} records in ${count} collections, ${bytesText(bytes)}\n`);
    });
}

function refuseFilled(directory: string): void {
  let names: readonly string[];
  try {
    names = readdirSync(directory);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return;
    throw new OperationError('file', `${directory} cannot be read as a directory`, cause);
  }
  if (names.length > 0) throw new OperationError('usage', `${directory} is not empty; --force writes into it anyway`);
}

const CRAWL_HINT = `
The output is replaced as a whole or not at all. A crawl that was ended, in whatever way, goes on where it was when the
same command runs again. A crawl is refused where too many links lead nowhere or a collection shrank: what was fetched
is kept then, and the error says how to accept it.`;

function addCrawl(root: Command, outputs: Outputs): void {
  addCrawling(root.command('crawl'))
    .description('Fetch a catalogue that serves this API into a directory of NDJSON files, for import and serve.')
    .argument('<url>', 'base URL of the catalogue, or its root view')
    .addOption(valueOption('-o, --output', 'directory to write or replace', PATH).makeOptionMandatory())
    .addOption(valueOption('--state', 'directory of what is not finished (default: OUTPUT.crawl)', PATH))
    .addHelpText('after', CRAWL_HINT)
    .addHelpText('after', example('crawl https://catalogue.example.org -o catalogue/ --contact ops@example.org'))
    .action(async (url: string, flags: CrawlFlags) => {
      const { runCrawl } = await import('./crawl.ts');
      await runCrawl(url, flags, outputs);
    });
}

function addDiff(root: Command, outputs: Outputs): void {
  root
    .command('diff')
    .description('Tell which records differ between two data set directories or snapshot files, by id and digest.')
    .argument('<before>', 'data set directory or snapshot file')
    .argument('<after>', 'data set directory or snapshot file')
    .addOption(valueOption('--format', FORMAT_HELP, CHANGE_FORMAT).default('table'))
    .addOption(valueOption('--threads', 'decoding threads', THREADS).default(availableParallelism(), 'number of cores'))
    .addHelpText('after', example('diff catalogue/ catalogue.snapshot --format ndjson'))
    .action(
      async (before: string, after: string, flags: { readonly format: ChangeFormat; readonly threads: number }) => {
        const { runDiff } = await import('./changes.ts');
        await runDiff([before, after], flags, outputs);
      },
    );
}

function addChanges(root: Command, outputs: Outputs): void {
  root
    .command('changes')
    .description('Tell what changed from generation to generation, as the change log of a replica has it.')
    .argument('<directory>', 'folder of a replica that follows another, or its change log')
    .addOption(valueOption('--since', 'what changed behind this one (default: all that is known)', GENERATION))
    .addOption(valueOption('--format', FORMAT_HELP, CHANGE_FORMAT).default('table'))
    .addHelpText('after', example('changes replica/ --since 5d43adc79607 --format ndjson'))
    .action(async (directory: string, flags: { readonly format: ChangeFormat; readonly since?: string }) => {
      const { runChanges } = await import('./changes.ts');
      runChanges(directory, flags, outputs);
    });
}

/** How every crawl asks, and what it accepts. */
function addCrawling(command: Command): Command {
  return command
    .addOption(valueOption('--concurrency', 'requests at a time, 1 to 4', CONCURRENCY).default(2))
    .addOption(valueOption('--rate', 'requests a second at most', RATE).default(10))
    .addOption(valueOption('--timeout', 'seconds that an answer may take', TIMEOUT).default(30))
    .addOption(valueOption('--contact', 'who crawls, for the User-Agent: an address or URL', CONTACT))
    .addOption(valueOption('--links-min', 'percentage of links that must lead to a record', PERCENT).default(99.9))
    .addOption(valueOption('--shrink-max', 'percentage of records that a collection may lose', PERCENT).default(5))
    .option('--force', 'accept collections that lost more');
}

const FOLLOW_HINT = `
The folder holds the data set, catalogue.snapshot for serve --watch, and the log of what changed. Each refresh asks only
for what changed, each sweep for everything. One that fails, or is ended in whatever way, leaves what is there.`;

const REFRESH_TIME = durationBetween(1000, 7 * DAY_MS);

function addFollow(root: Command, outputs: Outputs): void {
  addSettings(addCrawling(root.command('follow')), ['natsCredentials', 'natsCa', 'config'])
    .description(
      'Keep a folder with a snapshot fresh: crawl what changed, import it, and note the changes; again and again.',
    )
    .argument('<url>', 'base URL of the catalogue, or its root view')
    .addOption(valueOption('-o, --output', 'folder of the replica', PATH).makeOptionMandatory())
    .addOption(valueOption('--every', 'time from one refresh to the next', REFRESH_TIME).default(900_000, '15m'))
    .addOption(
      valueOption('--sweep-every', 'time after which everything is read anew', REFRESH_TIME).default(DAY_MS, '1d'),
    )
    .option('--once', 'refresh once and end, for cron')
    .addOption(valueOption('--publish-to', 'target that each new generation is published to', TARGET))
    .addOption(valueOption('--threads', 'decoding threads', THREADS).default(availableParallelism(), 'number of cores'))
    .addHelpText('after', FOLLOW_HINT)
    .addHelpText('after', example('follow https://catalogue.example.org -o replica/ --every 15m'))
    .action(async (url: string, flags: FollowFlags) => {
      const { runFollow } = await import('./follow.ts');
      await runFollow(url, flags, outputs);
    });
}

function addExplain(root: Command, { stdout }: Outputs): void {
  const command = root
    .command('explain')
    .description('Print how a request would be answered: its plan, indexes and estimated cost.')
    .argument('<request>', 'URL, or path with query');
  addSettings(command)
    .addHelpText('after', example("explain '/api/v3/observations/?title__startswith=A'"))
    .action(async (request: string, flags: Flags) => {
      const settings = readSettings(flags);
      const { explainRequest } = await import('./explain.ts');
      stdout.write(`${await explainRequest(settings, request)}\n`);
    });
}

const FIELD_FORMATS: readonly FieldFormat[] = ['table', 'json', 'ndjson', 'markdown'];

function addFields(root: Command, { stdout }: Outputs): void {
  root
    .command('fields')
    .description('Print what can be filtered: the fields of a collection, or of all, with their lookups.')
    .argument('[collection]', 'as it stands in paths')
    .addOption(new Option('--format <format>', 'how to print them').choices(FIELD_FORMATS).default('table'))
    .addHelpText('after', example('fields observations'))
    .action(async (collection: string | undefined, { format }: { readonly format: FieldFormat }) => {
      const { fieldsText } = await import('./fields.ts');
      stdout.write(`${fieldsText(collection, format)}\n`);
    });
}

/** All settings, or those of these names. */
function addSettings(command: Command, names?: readonly string[]): Command {
  for (const setting of SETTINGS.filter(({ name }) => names?.includes(name) ?? true))
    for (const option of settingOptions(setting)) command.addOption(option);
  return command.addHelpText('after', SETTINGS_HINT);
}

// No default and no parser here: settings/declarations.ts judges all sources alike and says where a wrong value came
// from.
function settingOptions(setting: Setting<unknown>): readonly Option[] {
  const flag = flagName(setting);
  if (setting.kind === SWITCH) {
    const negative = flag.replace('--', '--no-');
    const initial = setting.initial === true ? `on; ${negative} switches it off` : 'off';
    const help = `${setting.help} (default: ${initial})`;
    return [new Option(flag, help), new Option(negative).hideHelp()];
  }
  const repeatable = setting.arity === 'many' ? 'repeatable, ' : '';
  const help = `${setting.help} (${repeatable}default: ${setting.initialText})`;
  const option = new Option(`${flag} ${setting.kind.placeholder}`, help);
  if (setting.arity === 'many')
    option.argParser((text, earlier: readonly string[] | undefined) => [...(earlier ?? []), text]);
  return [option];
}

/** Where a publisher may write. */
const PUBLISHED_FORMS = 'file:///folder or nats://host:4222/bucket';
const KEEP = integerBetween(1, 32);
const NATS_REPLICAS = integerBetween(1, 5);
const THREADS = integerBetween(1, 1024);
/** A thousand times the largest catalogue known. */
const OBSERVATIONS = integerBetween(1, 100_000_000);
const SEED = integerBetween(0, Number.MAX_SAFE_INTEGER);
const CONCURRENCY = integerBetween(1, 4);
const RATE = numberBetween(0.01, 1000);
const TIMEOUT = numberBetween(0.01, 600);
const PERCENT = numberBetween(0, 100);
const FORMAT_HELP = 'how many changes, or a line of JSON for each';
const CHANGE_FORMAT = oneOf('table', 'ndjson');
