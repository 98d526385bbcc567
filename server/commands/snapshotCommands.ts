// The commands that make, judge and hand on snapshot files: import, verify, publish, prune, generate. Each loads its
// code when it runs.
import type { Command } from 'commander';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { OperationError } from '../../data/operationError.ts';
import type { ImportFlags } from './import.ts';
import { addSettings, COMPRESSED_FOR, example, KEEP, type Outputs, THREADS, valueOption } from './parts.ts';
import type { Publication } from './publish.ts';
import type { Flags } from '../settings/sources.ts';
import { PUBLISHED_FORMS, PUBLISHER_SETTINGS, S3_UNCONDITIONAL } from '../settings/replicaSettings.ts';
import { integerBetween } from '../settings/values.ts';

/** Adds these commands. */
export function addSnapshotCommands(root: Command, outputs: Outputs): void {
  addImport(root, outputs);
  addVerify(root, outputs);
  addPublish(root, outputs);
  addPrune(root, outputs);
  addGenerate(root, outputs);
}

function addImport(root: Command, outputs: Outputs): void {
  const command = root
    .command('import')
    .description('Build a snapshot file from a directory of <collection>.ndjson[.gz] files.')
    .argument('<directory>', 'directory of NDJSON files')
    .requiredOption('-o, --output <file>', 'snapshot file to write')
    .option('--created <time>', 'time of the data, for Last-Modified (default: created of MANIFEST.json)')
    .option('--without <variants>', 'index variants to leave out, of grams,bitmaps: smaller, same answers, some slower')
    .option('--lenient', 'skip and count wrong lines instead of stopping at the first')
    .option(
      '--take-nulls',
      'take null in fields that are documented to have values, which makes a line wrong otherwise',
    )
    .option('--profile', 'say where the CPU time went, in seconds by stage')
    .addOption(
      valueOption('--threads', 'threads that decode lines and make columns', THREADS).default(
        availableParallelism(),
        'number of cores',
      ),
    )
    .addOption(valueOption(...COMPRESSED_FOR));
  addSettings(command, ['logFormat'])
    .addHelpText('after', example('import catalogue/ -o catalogue.snapshot'))
    .action(async (directory: string, flags: ImportFlags & Pick<Flags, 'logFormat' | 'config'>) => {
      const { logFormat, config } = flags;
      const { runImport } = await import('./import.ts');
      await runImport(directory, flags, { logFormat, config }, outputs);
    });
}

function addVerify(root: Command, { stdout, stderr }: Outputs): void {
  root
    .command('verify')
    .description('Check a snapshot file: version, lengths, alignment, checksums, schema, digests, bounds.')
    .argument('<file>', 'snapshot file')
    .option('--deep', DEEP_HELP)
    .addHelpText('after', example('verify --deep catalogue.snapshot'))
    .action(async (file: string, { deep: isDeep = false }: { readonly deep?: boolean }) => {
      const [verify, { withProgress }, { verifyText }] = await Promise.all([
        isDeep
          ? import('../../data/verifyDeep.ts').then(({ verifyDeep }) => verifyDeep)
          : import('../../data/store/verify.ts').then(({ verifyFile }) => verifyFile),
        import('./terminal.ts'),
        import('./reports.ts'),
      ]);
      const report = await withProgress(stderr, (onProgress) => verify(file, onProgress));
      stdout.write(`${verifyText(report, file)}\n`);
    });
}

const DEEP_HELP = 'import its records again and compare: time and memory of an import, 2.5 times the file in TMPDIR';

function addPublish(root: Command, outputs: Outputs): void {
  const command = root
    .command('publish')
    .description('Put a snapshot file where replicas fetch it (serve --from), and point to it.')
    .argument('<file>', 'snapshot file; what import --base-url compressed goes with it')
    .requiredOption('--to <target>', `where: ${PUBLISHED_FORMS}`)
    .option('--allow-rollback', 'publish even where the data is older than what is current')
    .option('--force', 'publish even if the data is dated more than a day in the future')
    .option(...S3_UNCONDITIONAL);
  addSettings(command, [...PUBLISHER_SETTINGS, 'logFormat'])
    .addHelpText('after', example('publish catalogue.snapshot --to file:///srv/snapshots'))
    .action(async (file: string, { to, s3Unconditional, ...flags }: Flags & Omit<Publication, 'file'>) => {
      const { runPublish } = await import('./publish.ts');
      await runPublish({ file, to, s3Unconditional }, flags, outputs);
    });
}

function addPrune(root: Command, outputs: Outputs): void {
  const command = root
    .command('prune')
    .description('Remove from a target what is neither current nor of the generations right before.')
    .argument('<target>', PUBLISHED_FORMS)
    .addOption(valueOption(...KEEP).makeOptionMandatory());
  addSettings(command, [...PUBLISHER_SETTINGS, 'logFormat'])
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
    .description('Write a made-up catalogue of any size as NDJSON; the same seed gives the same records everywhere.')
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

/** A thousand times the largest catalogue known. */
const OBSERVATIONS = integerBetween(1, 100_000_000);
const SEED = integerBetween(0, Number.MAX_SAFE_INTEGER);
