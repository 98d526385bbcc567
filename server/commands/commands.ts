// The command line. Each command is a file that is imported only when it is named, so that help is fast.
import type { Command } from 'commander';
import type { Outputs } from './parts.ts';
import { serveLine } from './serveCommand.ts';

/** The commands other than `serve`, in the order of help. */
const COMMANDS: readonly {
  readonly name: string;
  readonly description: string;
  /** Resolves to the function that defines arguments and options. */
  readonly load: () => Promise<(command: Command, outputs: Outputs) => void>;
}[] = [
  {
    name: 'import',
    description: 'Build a snapshot file from a directory of <collection>.ndjson[.gz] files.',
    load: async () => (await import('./import.ts')).defineImport,
  },
  {
    name: 'verify',
    description: 'Check a snapshot file: version, lengths, alignment, checksums, schema, digests, bounds.',
    load: async () => (await import('./verify.ts')).defineVerify,
  },
  {
    name: 'publish',
    description: 'Upload a snapshot file to a target, for replicas with serve --from.',
    load: async () => (await import('./publish.ts')).definePublish,
  },
  {
    name: 'prune',
    description: 'Delete old generations from a target.',
    load: async () => (await import('./publish.ts')).definePrune,
  },
  {
    name: 'generate',
    description: 'Write a random catalogue of any size as NDJSON, reproducible by its seed.',
    load: async () => (await import('./generate.ts')).defineGenerate,
  },
  {
    name: 'crawl',
    description: 'Fetch a catalogue with this API into a directory of NDJSON files.',
    load: async () => (await import('./crawl.ts')).defineCrawl,
  },
  {
    name: 'follow',
    description: 'Keep a snapshot fresh: compare it with a catalogue, import and log changes.',
    load: async () => (await import('./follow.ts')).defineFollow,
  },
  {
    name: 'probe',
    description: 'Look at a catalogue for a minute: what it has and honours, what a replica of it costs and needs.',
    load: async () => (await import('./probe.ts')).defineProbe,
  },
  {
    name: 'compare',
    description: 'Compare the responses of a catalogue and of its replica to the same requests.',
    load: async () => (await import('./compare.ts')).defineCompare,
  },
  {
    name: 'diff',
    description: 'Print the records that differ between two data sets or snapshots.',
    load: async () => (await import('./changes.ts')).defineDiff,
  },
  {
    name: 'changes',
    description: 'Print the change log of a replica: what changed in each generation.',
    load: async () => (await import('./changes.ts')).defineChanges,
  },
  {
    name: 'explain',
    description: 'Print the plan of a request: steps, indexes and estimated cost.',
    load: async () => (await import('./explain.ts')).defineExplain,
  },
  {
    name: 'fields',
    description: 'Print the documented fields of collections with their lookups.',
    load: async () => (await import('./fields.ts')).defineFields,
  },
  {
    name: 'export',
    description: 'Write lists to files as Parquet, CSV or NDJSON, filtered and ordered.',
    load: async () => (await import('./export.ts')).defineExport,
  },
  {
    name: 'stats',
    description: 'Print collections, memory by part and value counts of a snapshot or data set.',
    load: async () => (await import('./stats.ts')).defineStats,
  },
  {
    name: 'authority',
    description: 'Manage the attribute authority and its certificates.',
    load: async () => (await import('./authority/commands.ts')).defineAuthority,
  },
  {
    name: 'completion',
    description: 'Print a script that completes commands, flags and values in bash.',
    load: async () => {
      const { defineCompletion } = await import('./completion.ts');
      return (command, outputs) => defineCompletion(command, outputs, () => commandLine(outputs));
    },
  },
];

/**
 * Defines the options of the command named in `words`, or of all commands. Parsing throws a CommanderError instead of
 * exiting.
 */
export async function commandLine(outputs: Outputs, words?: readonly string[]): Promise<Command> {
  const root = serveLine(outputs);
  for (const { name, description, load } of COMMANDS) {
    const command = root.command(name).description(description);
    if (!words || words.includes(name)) (await load())(command, outputs);
  }
  // Without this, help would show wrong arguments for commands that are not loaded.
  return root.configureHelp({ subcommandTerm: (command) => command.name() });
}
