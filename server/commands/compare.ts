// `compare`: sends the same requests to a catalogue and to its replica, and prints how the responses differ.
import { type Command, Option } from 'commander';
import { type Comparison, ComparedServer, compareServers } from '../../data/compare/compare.ts';
import { type Cause, CAUSES } from '../../data/compare/differences.ts';
import { loggedRequests, requestsOfData } from '../../data/compare/requests.ts';
import { OperationError } from '../../data/operationError.ts';
import { countText } from '../observe/quantities.ts';
import type { Flags } from '../settings/sources.ts';
import { PATH } from '../settings/values.ts';
import { CLIENT_SETTINGS, crawlingOf } from './crawl.ts';
import { addSettings, example, type Outputs, settingsOf, valueOption } from './parts.ts';
import { tableText, withProgress } from './terminal.ts';

const CAUSE_NAMES = Object.keys(CAUSES) as readonly Cause[];

/** The flags of the command in addition to its settings. */
interface CompareFlags {
  readonly log?: string;
  readonly format: 'table' | 'json';
  readonly accept?: readonly Cause[];
}

export function defineCompare(command: Command, outputs: Outputs): void {
  addSettings(command, CLIENT_SETTINGS)
    .argument('<upstream>', 'base URL of the catalogue')
    .argument('<replica>', 'base URL of the replica')
    .addOption(valueOption('--log', 'access log with the requests to send (default: made from the data)', PATH))
    .addOption(new Option('--format <format>', 'output format').choices(['table', 'json']).default('table'))
    .addOption(new Option('--accept <cause...>', 'causes that do not count as differences').choices(CAUSE_NAMES))
    .addHelpText('after', `\nCauses:\n${tableText(CAUSE_NAMES.map((name) => [`  ${name}`, CAUSES[name][0]]))}`)
    .addHelpText('after', '\nExits with 1 if a response differs for a cause that is not in --accept.')
    .addHelpText('after', example('compare https://catalogue.example.org http://localhost:8080 --log access.log'))
    .action((upstream: string, replica: string, flags: CompareFlags & Flags) =>
      runCompare(upstream, replica, flags, outputs),
    );
}

async function runCompare(
  upstreamUrl: string,
  replicaUrl: string,
  flags: CompareFlags & Flags,
  { stdout, stderr }: Outputs,
): Promise<void> {
  const settings = settingsOf(flags, CLIENT_SETTINGS);
  const [original, copy] = [upstreamUrl, replicaUrl].map((url) => crawlingOf(url, settings, false));
  const [upstream, replica] = [new ComparedServer(original!), new ComparedServer(copy!)];
  try {
    await Promise.all([upstream.open(), replica.open()]);
    const paths = await (flags.log === undefined
      ? requestsOfData(replica)
      : loggedRequests(flags.log, new URL(original!.base).pathname.replace(/\/$/, '')));
    const comparison = await withProgress(stderr, (onProgress) =>
      compareServers(upstream, replica, paths, settings.concurrency, onProgress),
    );
    stdout.write(flags.format === 'json' ? `${JSON.stringify(comparison, undefined, 2)}\n` : reportText(comparison));
    const refused = comparison.groups.filter(({ cause }) => !(flags.accept ?? []).includes(cause));
    if (refused.length > 0) {
      const causes = refused.map(({ cause }) => cause).join(', ');
      throw new OperationError('input', `the replica responds differently (${causes})`);
    }
  } finally {
    await Promise.all([upstream.close(), replica.close()]);
  }
}

/** The report for a terminal: at most 80 columns, except for the URLs of examples. */
function reportText({ compared, different, groups }: Comparison): string {
  const summary = `${countText(compared - different)} of ${countText(compared)} responses are identical\n`;
  if (groups.length === 0) return summary;
  const rows = groups.map(({ cause, requests }) => [cause, countText(requests), CAUSES[cause][0]]);
  const details = groups.map(({ cause, examples }) => {
    const [, cure] = CAUSES[cause];
    const lines = examples.map(
      ({ path, upstream, replica }) => `  ${path}\n    upstream: ${upstream}\n    replica:  ${replica}\n`,
    );
    return `\n${cause}:${cure === '' ? '' : ` try ${cure}`}\n${lines.join('')}`;
  });
  return `${tableText([['cause', 'requests', 'meaning'], ...rows])}\n${details.join('')}\n${summary}`;
}
