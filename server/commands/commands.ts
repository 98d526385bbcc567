// The commands: their flags, help and what each calls. Built on commander; every command loads its code when it runs,
// so that --help is quick.
import { type Command, Option } from 'commander';
import type { ExportFormat } from '../../engine/engine.ts';
import { addAuthority } from './authority/commands.ts';
import type { ExportFlags } from './export.ts';
import type { FieldFormat } from './fields.ts';
import type { StatsFormat } from './stats.ts';
import { addSettings, example, type Outputs } from './parts.ts';
import { addReplicaCommands } from './replicaCommands.ts';
import { serveLine } from './serveCommand.ts';
import { addSnapshotCommands } from './snapshotCommands.ts';
import { readSettings } from '../settings/declarations.ts';
import type { Flags } from '../settings/sources.ts';

/** The whole command line. Parsing throws a CommanderError for help, version and usage errors instead of exiting. */
export function commandLine(outputs: Outputs): Command {
  const root = serveLine(outputs);
  addSnapshotCommands(root, outputs);
  addReplicaCommands(root, outputs);
  addExplain(root, outputs);
  addFields(root, outputs);
  addExport(root, outputs);
  addStats(root, outputs);
  addAuthority(root, outputs);
  return root;
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

function addExport(root: Command, outputs: Outputs): void {
  const command = root
    .command('export')
    .description('Write lists of a snapshot or data set to files: Parquet, CSV or NDJSON, filtered and ordered.')
    .argument('<collections...>', 'as they stand in paths, or all')
    .requiredOption('-o, --output <path>', 'file to write, named *.parquet, *.csv or *.ndjson; of several a directory')
    .option('--where <query>', 'filters, fields and ordering as the API has them: status=completed&ordering=title')
    .addOption(new Option('--format <format>', 'of files in a directory (default: parquet)').choices(EXPORT_FORMATS))
    .option('--force', 'replace what is there');
  addSettings(command, ['data', 'baseUrl', 'lenient', 'takeNulls'])
    .addHelpText(
      'after',
      example("export observations -o citable.csv --data catalogue.snapshot --where 'publicationState=citable'"),
    )
    .action(async (collections: readonly string[], flags: Flags & ExportFlags) => {
      const { runExport } = await import('./export.ts');
      await runExport(collections, flags, outputs);
    });
}

function addStats(root: Command, outputs: Outputs): void {
  const command = root
    .command('stats')
    .description('Print what a snapshot or data set holds: collections, memory by part, how values are distributed.')
    .argument('<data>', 'snapshot file, or directory of <collection>.ndjson[.gz] files')
    .addOption(new Option('--format <format>', 'how to print it').choices(['table', 'json']).default('table'));
  addSettings(command, ['lenient', 'takeNulls'])
    .addHelpText('after', example('stats catalogue.snapshot'))
    .action(async (data: string, { format, ...flags }: Flags & { readonly format: StatsFormat }) => {
      const { runStats } = await import('./stats.ts');
      await runStats({ data, format }, flags, outputs);
    });
}

/** By hand, as its type has them: a command is declared without the engine being read. */
const EXPORT_FORMATS: readonly ExportFormat[] = ['parquet', 'csv', 'ndjson'];
const FIELD_FORMATS: readonly FieldFormat[] = ['table', 'json', 'ndjson', 'markdown'];

function addFields(root: Command, { stdout }: Outputs): void {
  root
    .command('fields')
    .description('Print the documented fields of a collection, or of all, with the lookups that filters have.')
    .argument('[collection]', 'as it stands in paths')
    .addOption(new Option('--format <format>', 'how to print them').choices(FIELD_FORMATS).default('table'))
    .addHelpText('after', example('fields observations'))
    .action(async (collection: string | undefined, { format }: { readonly format: FieldFormat }) => {
      const { fieldsText } = await import('./fields.ts');
      stdout.write(`${fieldsText(collection, format)}\n`);
    });
}
