// `probe`: prints what a catalogue has and honours, what a replica of it costs, and the command that serves one. The
// probe itself is data/upstream/probe.ts.
import { type Command, Option } from 'commander';
import { probe, type ProbeReport, type Verdict } from '../../data/upstream/probe.ts';
import { COLLECTIONS } from '../../engine/shared.ts';
import { bytesText, countText } from '../observe/quantities.ts';
import type { Settings } from '../settings/declarations.ts';
import { FOLLOW_SETTINGS } from '../settings/replicaSettings.ts';
import { flagName, type Flags } from '../settings/sources.ts';
import { CLIENT_SETTINGS, crawlingOf } from './crawl.ts';
import { addSettings, example, NAME, type Outputs, settingsOf } from './parts.ts';
import { durationText, tableText, withProgress } from './terminal.ts';

/** A probe ends within a minute and tries each request twice. */
export const PROBING = { tries: 2, backoffMs: 500, durationMs: 60_000 };

/** Names that one line of the report has. */
const NAMED_MAX = 4;

/** Defines the arguments, options and action of `probe`. */
export function defineProbe(command: Command, { stdout, stderr }: Outputs): void {
  addSettings(command, CLIENT_SETTINGS)
    .argument('<url>', 'base URL of the catalogue, or an address of its API')
    .addOption(new Option('--format <format>', 'output format').choices(['table', 'json']).default('table'))
    .addHelpText('after', '\nWrites nothing. A check without a response within the minute is reported as not checked.')
    .addHelpText('after', example('probe https://catalogue.example.org'))
    .action(async (url: string, flags: { readonly format: 'table' | 'json' } & Flags) => {
      const settings = settingsOf(flags, CLIENT_SETTINGS);
      const options = { ...crawlingOf(url, settings, false), ...PROBING };
      const report = await withProgress(stderr, (onProgress) => probe(options, onProgress));
      const json = { ...report, command: serveCommand(report, settings) };
      stdout.write(flags.format === 'json' ? `${JSON.stringify(json, null, 2)}\n` : `${probeText(report, settings)}\n`);
    });
}

/** The report of a probe for people: a table, and the command that serves a replica. */
export function probeText(report: ProbeReport, settings: Settings): string {
  const { counts, missing, unknown, unreadable, nulls, faults, links, page, bytes } = report;
  const records = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const presentCount = COLLECTIONS.length - missing.length;
  const rowUnlessEmpty = (label: string, names: readonly string[]): readonly (readonly string[])[] =>
    names.length > 0 ? [[label, namesText(names)]] : [];
  const rows = [
    ['collections', `${presentCount} of ${COLLECTIONS.length}, ${countText(records)} records`],
    ...rowUnlessEmpty('missing', missing),
    ...rowUnlessEmpty('left out', unknown),
    ...rowUnlessEmpty(
      'unreadable',
      Object.entries(unreadable).map(([name, reason]) => `${name} (${reason})`),
    ),
    ['ordering', verdictText(report.ordering)],
    ['filters', verdictText(report.filters)],
    ['validators', verdictText(report.validators)],
    ['dates', verdictText(report.dates)],
    ['links', linksText(links)],
    ['nulls', nulls.length > 0 ? namesText(nulls) : 'none where documents show values'],
    ...rowUnlessEmpty('faults', faults),
    ['page', `${countText(page.records)} records in ${Math.round(page.ms)} ms`],
    ['crawl', costText(report.crawl)],
    ['refresh', costText(report.refresh)],
    ['memory', `${bytesText(bytes.memory)} for serve --follow, about`],
    ['disk', `${bytesText(bytes.disk)}, about`],
  ];
  return `${tableText(rows)}\n\n${serveCommand(report, settings)}`;
}

function namesText(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  return `${names.slice(0, NAMED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function verdictText({ honoured, ignored, unchecked }: Verdict): string {
  const parts = [
    ...(honoured.length > 0 ? [ignored.length === 0 ? 'honoured' : `honoured in ${honoured.length}`] : []),
    ...(ignored.length > 0 ? [honoured.length === 0 ? 'none' : `not in ${namesText(ignored)}`] : []),
    ...(unchecked.length > 0 ? [`not checked: ${namesText(unchecked)}`] : []),
  ];
  return parts.length > 0 ? parts.join('; ') : 'nothing to check';
}

function linksText({ checked, resolved, unchecked, share, margin, linksMin }: ProbeReport['links']): string {
  if (checked === 0) return unchecked === 0 ? 'none' : 'not checked';
  const remainder = unchecked > 0 ? `; ${countText(unchecked)} not checked` : '';
  const least = `at least ${(share - margin).toFixed(1)} %, --links-min ${linksMin}`;
  return `${countText(resolved)} of ${countText(checked)} links resolve: ${share.toFixed(1)} % (${least})${remainder}`;
}

function costText({ requests, seconds }: ProbeReport['crawl']): string {
  return `${countText(requests)} requests, ${durationText(seconds)}`;
}

/** The command that serves a replica, with these settings and those that the catalogue needs. */
function serveCommand({ url, links, nulls, faults, refresh }: ProbeReport, settings: Settings): string {
  const { checked, resolved, linksMin } = links;
  const values: Readonly<Record<string, unknown>> = {
    ...settings,
    linksMin: checked === resolved ? settings.linksMin : Math.min(settings.linksMin, linksMin),
    takeNulls: settings.takeNulls || nulls.length > 0,
    lenient: settings.lenient || faults.length > 0,
    // A refresh may take two thirds of the time.
    everyMs: Math.max(settings.everyMs, Math.ceil(refresh.seconds / 40) * 60_000),
  };
  const flags = Object.entries(FOLLOW_SETTINGS).flatMap(([key, setting]) => {
    const value = values[key];
    if (key === 'follow' || value === setting.initial) return [];
    if (typeof value === 'boolean') return [flagName(setting)];
    const text = key === 'everyMs' || key === 'sweepEveryMs' ? `${Number(value) / 1000}s` : String(value);
    return [flagName(setting), /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`];
  });
  return [NAME, 'serve', '--follow', url, ...flags].join(' ');
}
