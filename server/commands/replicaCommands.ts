// The commands that copy another catalogue and tell what changed in it: crawl, follow, diff, changes. Each loads its
// code when it runs.
import type { Command } from 'commander';
import { availableParallelism } from 'node:os';
import type { ChangeFormat } from './changes.ts';
import type { CrawlFlags } from './crawl.ts';
import type { FollowFlags } from './follow.ts';
import { addSettings, COMPRESSED_FOR, example, KEEP, type Outputs, THREADS, valueOption } from './parts.ts';
import { readSettings, type Settings } from '../settings/declarations.ts';
import type { Flags } from '../settings/sources.ts';
import { CRAWL_FLAGS, FOLLOW_FLAGS, PUBLISHER_SETTINGS, S3_UNCONDITIONAL } from '../settings/replicaSettings.ts';
import { GENERATION, oneOf, PATH, TARGET } from '../settings/values.ts';

/** Adds these commands. */
export function addReplicaCommands(root: Command, outputs: Outputs): void {
  addCrawl(root, outputs);
  addFollow(root, outputs);
  addDiff(root, outputs);
  addChanges(root, outputs);
}

const CRAWL_HINT = `
The output is replaced as a whole or not at all. A crawl that was ended, in whatever way, goes on where it was when the
same command runs again. A crawl is refused where too many links lead nowhere or a collection shrank: what was fetched
is kept then, and the error says how to accept it; with --discard-refused it is removed, for runs that nobody watches,
which end with 3 then.`;

function addCrawl(root: Command, outputs: Outputs): void {
  const names = [...CRAWL_FLAGS, 'logFormat'];
  addSettings(root.command('crawl'), names)
    .description('Fetch a catalogue that serves this API into a directory of NDJSON files, for import and serve.')
    .argument('<url>', 'base URL of the catalogue, or an address of its API')
    .addOption(valueOption('-o, --output', 'directory to write or replace', PATH).makeOptionMandatory())
    .addOption(valueOption('--state', 'directory of what is not finished (default: OUTPUT.crawl)', PATH))
    .option('--force', 'replace the data of another catalogue too; accept collections that lost more')
    .option('--discard-refused', 'remove what was fetched where it is refused, so that the next run fetches all anew')
    .addHelpText('after', CRAWL_HINT)
    .addHelpText('after', example('crawl https://catalogue.example.org -o catalogue/ --contact ops@example.org'))
    .action(async (url: string, flags: CrawlFlags & Flags) => {
      const settings = settingsOf(flags, names);
      const { runCrawl } = await import('./crawl.ts');
      await runCrawl(url, flags, settings, outputs);
    });
}

const FOLLOW_HINT = `
The folder holds the data set, catalogue.snapshot for serve --watch, and the log of what changed. Each refresh compares
collections by modification dates or validators if the catalogue has them, and reads the others in full. One that fails
or is killed leaves what is there. --publish-to reports each refresh to replicas, changes or not: their
refresh_age_seconds and --max-stale count from the start of its comparison.
With --keep the target is pruned behind each new generation. With --base-url the new records are compressed here, and
not by each replica with that --base-url.`;

function addFollow(root: Command, outputs: Outputs): void {
  const names = [...FOLLOW_FLAGS, ...PUBLISHER_SETTINGS, 'logFormat'];
  addSettings(root.command('follow'), names)
    .description(
      'Keep a folder with a snapshot fresh: compare it with a catalogue, import changes and log them, repeatedly.',
    )
    .argument('<url>', 'base URL of the catalogue, or an address of its API')
    .addOption(valueOption('-o, --output', 'folder of the replica', PATH).makeOptionMandatory())
    .option('--force', `${FORCE[1]}; publish data dated in the future`)
    .option('--once', 'refresh once and end, for cron')
    .addOption(valueOption('--publish-to', 'target that each new generation is published to', TARGET))
    .addOption(valueOption(...KEEP))
    .addOption(valueOption(...COMPRESSED_FOR))
    .option(...S3_UNCONDITIONAL)
    .addOption(valueOption('--threads', 'decoding threads', THREADS).default(availableParallelism(), 'number of cores'))
    .addHelpText('after', FOLLOW_HINT)
    .addHelpText('after', example('follow https://catalogue.example.org -o replica/ --every 15m'))
    .action(async (url: string, flags: FollowFlags & Flags) => {
      const settings = settingsOf(flags, names);
      const { runFollow } = await import('./follow.ts');
      await runFollow(url, flags, settings, outputs);
    });
}

/** What is set for a command that has these settings as flags. */
function settingsOf(flags: Flags, names: readonly string[]): Settings {
  return readSettings(Object.fromEntries(names.map((name) => [name, flags[name]])));
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

const FORCE = ['--force', 'accept collections that lost more'] as const;
const FORMAT_HELP = 'how many changes, or a line of JSON for each';
const CHANGE_FORMAT = oneOf('table', 'ndjson');
