// The supervisor: claims the port, loads the data, starts the serving threads, renews the data and stops them. It
// serves no requests itself.
import { COLLECTIONS } from '../../engine/shared.ts';
import { openDataFile } from '../../data/open.ts';
import { OperationError, reasonOf } from '../../data/operationError.ts';
import type { OnLostThread } from '../../workers/starvation.ts';
import type { StartedAuthority } from './authorityStart.ts';
import { epochMs } from '../observe/clock.ts';
import { SAMPLE, type Settings } from '../settings/declarations.ts';
import { claimPorts } from '../http/ports.ts';
import type { DrainTime } from '../http/listener.ts';
import { raiseHeadLimit } from '../http/uws/library.ts';
import type { AccessLogs } from '../observe/accessLog.ts';
import type { Observer, Report } from '../observe/events.ts';
import { ACCESS_LINES, newTally } from '../observe/tally.ts';
import { countText, MEGABYTE } from '../observe/quantities.ts';
import type { Administration } from './administration.ts';
import { type GenerationOptions, loadGeneration, type ServedData, type ShowProgress } from './loadGeneration.ts';
import { allEnded, cutLine, noteReloadSignals } from './signals.ts';
import { ServingThreads, ThreadFaults } from './servingThreads.ts';
import { type LastingData, stackText } from './messages.ts';
import type { Arrival, ArrivalOptions } from './arrival.ts';
import type { Change, Generations } from './generations.ts';
import type { Watch } from './watch.ts';
import { makeGenerations, type ReloadOptions } from './reloads.ts';
import { SOAP_ANSWERS } from '../authority/soap/tally.ts';
import { IGNORED_PARAMETERS } from '../catalogue/tally.ts';
import { readFileSync } from 'node:fs';

/** The list with the most filters, for the example in the welcome text. */
const EXAMPLE_LIST = `/api/v3/${COLLECTIONS.toSorted((a, b) => b.filters.length - a.filters.length)[0]!.name}/`;

interface Starter {
  /** The script whose `follow` command refreshes the data. */
  readonly commandLine: string;
  /** Called before the first request can arrive: from then on a signal must drain. */
  readonly beforeFirst: () => void;
}

/**
 * Serves what the settings name. `tell` receives log lines; while `showProgress` runs, which may draw a bar on the same
 * terminal, only those about a reload. Throws OperationError `port` if the port is in use; `input` or `file` for the
 * authority, before it reads any data; `file`, `input` or `snapshot` for the data. Nothing is left running then.
 */
export async function serve(
  settings: Settings,
  tell: Report,
  showProgress: ShowProgress,
  { commandLine, beforeFirst }: Starter,
) {
  raiseHeadLimit();
  const wasOrdered = noteReloadSignals(tell);
  let administration: Administration | undefined;
  const report = forwardSteps(() => administration, tell);
  reportScarcity(settings, report);
  const claims = await claimPorts(settings.host, settings.port, settings.http10Port);
  let accessLogs: AccessLogs | undefined;
  const faults = new ThreadFaults(report, (events) => administration?.metrics.observe(events));
  // Started first, because the threads load the program meanwhile.
  const threads = startThreads(settings, report, faults);
  const stops: (() => void | Promise<void>)[] = [claims.release];
  let authority: StartedAuthority | undefined;
  const stop = async (time: DrainTime): Promise<void> => {
    administration?.drain();
    const cutCount = await allEnded(threads.stop(time), stops, () => authority?.stop(), time);
    administration?.stop();
    accessLogs?.stop();
    if (cutCount > 0) report(cutLine(cutCount, settings.drainSeconds), 'warn');
  };
  try {
    accessLogs = await openAccessLogs(settings, report);
    administration = await openAdministration(settings, report);
    // Before the data, which may take minutes to load: errors in the authority's configuration appear at once.
    authority = await startAuthorityIfSet(settings, report, administration, faults);
    const baseUrl = settings.baseUrl ?? `http://localhost:${claims.port}`;
    const watch = settings.watch ? await (await import('./watch.ts')).watchOver(settings.data) : undefined;
    const shared = { ports: claims, baseUrl, authority, administration, accessLogs, staleness: newSharedWord() };
    const arrival = await openArrival({ settings, baseUrl, commandLine, report }, administration);
    if (arrival) stops.push(() => arrival.stop());
    const served = await loadFirst(settings, { baseUrl, report, showProgress }, arrival);
    if (settings.maxStaleMs !== undefined) {
      stops.push(startStalenessFlag(shared.staleness, () => arrival?.unreadyReason() !== undefined));
    }
    await claims.release();
    beforeFirst();
    await threads.begin((i) => servingData(settings, shared, i), served);
    administration?.begin(served);
    const reloads = { settings, baseUrl, served, threads, arrival, administration, report };
    stops.push(acceptReloads(await makeGenerations(reloads), reloads, arrival, watch, wasOrdered()));
    const url = serverUrl(settings, claims);
    for (const line of listeningLines(settings, shared)) report(line);
    return { url, welcome: welcomeLines(url), stop: (): Promise<void> => stop(drainTime(settings)) };
  } catch (error) {
    await stop({ graceMs: 0, withinMs: 0 });
    throw error;
  }
}

function reportScarcity({ threads }: Settings, report: Report): void {
  const scarcity = scarceDescriptors(threads, descriptorLimit());
  if (scarcity !== undefined) report(scarcity);
}

function startThreads(settings: Settings, report: Report, faults: ThreadFaults): ServingThreads {
  const parts = { hasAuthority: hasAuthority(settings), hasHttp10: settings.http10Port !== undefined };
  return new ServingThreads(settings.threads, parts, report, faults);
}

/** Returns a report that also passes its steps to the administration, once the administration exists. */
function forwardSteps(administration: () => Administration | undefined, tell: Report): Report {
  return (text, level, step) => {
    if (step) administration()?.noteStep(step);
    tell(text, level, step);
  };
}

async function loadFirst(
  settings: Settings,
  options: GenerationOptions,
  arrival: Arrival | undefined,
): Promise<ServedData> {
  const first = arrival
    ? arrival.first((held) => loadGeneration(settings, options, held), options.showProgress)
    : loadGeneration(settings, options, openDataFile(settings.data));
  return { generation: await first, sinceMs: epochMs() };
}

/** Opens the target or starts to follow, if the settings ask for it. Imported only then. */
async function openArrival(
  options: ArrivalOptions,
  administration: Administration | undefined,
): Promise<Arrival | undefined> {
  const { from, follow } = options.settings;
  if (from === undefined && follow === undefined) return undefined;
  const { Arrival } = await import('./arrival.ts');
  const arrival = await Arrival.open(options);
  if (administration) administration.source = arrival;
  return arrival;
}

function newSharedWord(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/**
 * Starts accepting reloads: on SIGHUP, on commands of operators, and when new data arrives. Returns a function that
 * stops it.
 */
function acceptReloads(
  generations: Generations,
  { settings, served, administration }: ReloadOptions,
  arrival: Arrival | undefined,
  watch: Watch | undefined,
  wasOrdered: boolean,
): () => void {
  const serving = {
    generations,
    served: (): string => served.generation.loaded.generation,
    onRefreshed: (change: Change, atMs: number): void => administration?.refreshed(change, atMs),
  };
  const reload = (): Promise<Change> => (arrival ? arrival.reload(serving) : generations.reload());
  administration?.command({
    '/reload': reload,
    '/rollback': () => generations.rollback(),
    ...(arrival && settings.follow !== undefined && { '/refresh': () => arrival.refresh() }),
  });
  const onOrder = (): void => void reload();
  process.on('SIGHUP', onOrder);
  if (wasOrdered) onOrder();
  const unwatch = watch?.(async () => (await reload()).status !== 'refused');
  arrival?.begin(serving);
  return () => {
    process.off('SIGHUP', onOrder);
    unwatch?.();
  };
}

/** Whether the access log or the audit log uses standard output, so that nothing else may be written to it. */
export function needsStandardOutput(settings: Settings): boolean {
  return settings.accessLog === '-' || (hasAuthority(settings) && (settings.auditLog ?? '-') === '-');
}

const ignoreEvents: Observer = () => undefined;

/** The embedded sample comes with a demonstration authority unless the settings name one. */
export function hasAuthority({ authority, data }: Settings): boolean {
  return authority !== undefined || data === SAMPLE;
}

/** Starts the authority if the settings ask for it. Imported only then. */
async function startAuthorityIfSet(
  settings: Settings,
  report: Report,
  administration: Administration | undefined,
  faults: ThreadFaults,
): Promise<StartedAuthority | undefined> {
  if (!hasAuthority(settings)) return undefined;
  const { startAuthority } = await import('./authorityStart.ts');
  const count = administration?.metrics.observe ?? ignoreEvents;
  const onLostThread: OnLostThread = (error, isStarvation) => {
    if (isStarvation) faults.starved('authority', reasonOf(error));
    else faults.died('authority', stackText(error));
  };
  const authority = startAuthority(settings, { report, count, onLostThread });
  if (administration) administration.authority = authority;
  return authority;
}

async function openAdministration(settings: Settings, report: Report): Promise<Administration | undefined> {
  const { adminHost, adminPort } = settings;
  if (adminPort === undefined) return undefined;
  const { Administration } = await import('./administration.ts');
  const administration = new Administration(settings);
  const onError = (error: unknown): void =>
    report(`an admin request met a bug, please report it: ${String(error)}`, 'error');
  const port = await administration.listen(adminPort, onError);
  report(`admin on http://${urlHost(adminHost)}:${port}/status`);
  return administration;
}

async function openAccessLogs(
  { accessLog, accessLogSample }: Settings,
  report: Report,
): Promise<AccessLogs | undefined> {
  if (accessLog === undefined) return undefined;
  const { AccessLogs } = await import('../observe/accessLog.ts');
  return new AccessLogs(accessLog, accessLogSample, report);
}

type Ports = Awaited<ReturnType<typeof claimPorts>>;

interface Shared {
  readonly ports: Ports;
  readonly baseUrl: string;
  readonly authority: StartedAuthority | undefined;
  readonly administration: Administration | undefined;
  readonly accessLogs: AccessLogs | undefined;
  readonly staleness: Int32Array;
}

function servingData(
  settings: Settings,
  { ports, baseUrl, authority, administration, accessLogs, staleness }: Shared,
  i: number,
): LastingData {
  const tally = administration?.metrics.tally ?? newTally;
  const accessLines = tally(ACCESS_LINES);
  return {
    settings: { ...settings, baseUrl },
    host: settings.host,
    port: ports.port,
    http10Port: i === 0 ? ports.http10Port : undefined,
    rowSetCacheBytes: settings.rowSetCacheMb * MEGABYTE,
    staleness,
    soapAnswers: tally(SOAP_ANSWERS),
    ignoredParameters: tally(IGNORED_PARAMETERS),
    requests: administration?.requestTallies(),
    readings: administration?.threadTallies(i),
    accessLog: accessLogs?.link(accessLines),
    authority: authority?.link(),
  };
}

function listeningLines(settings: Settings, { ports, baseUrl, authority }: Shared): readonly string[] {
  const { port, http10Port } = ports;
  const url = `http://${urlHost(settings.host)}`;
  return [
    ...(authority?.notice === undefined ? [] : [authority.notice]),
    `listening on ${url}:${port}`,
    ...(http10Port === undefined ? [] : [`listening on ${url}:${http10Port} (HTTP/1.0)`]),
    `links start with ${baseUrl}`,
  ];
}

/** The addresses for a new user, and an example to try. */
function welcomeLines(url: string): readonly string[] {
  return [
    `pages: ${url}/browse/`,
    `API: ${url}/api/v3/`,
    `docs: ${url}/docs/`,
    `try: curl '${url}${EXAMPLE_LIST}?limit=1'`,
  ];
}

function drainTime({ drainGraceSeconds, drainSeconds }: Settings): DrainTime {
  return { graceMs: drainGraceSeconds * 1000, withinMs: drainSeconds * 1000 };
}

function serverUrl({ host }: Settings, { port }: Ports): string {
  return `http://${urlHost(host)}:${port}`;
}

function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** Descriptors of the process. Measured: 26 for the process, its data and its ports, and 6 for the authority thread. */
const OF_PROCESS = 32;
/** Descriptors of a serving thread. Measured: 11, and 6 for its pool thread; the rest is for files opened briefly. */
const OF_THREAD = 28;
/** If fewer connections than this are possible at once, a line is logged. */
const CONNECTIONS_FEW = 256;

/** Throws OperationError `starved` if no descriptor is left for connections. Returns a warning if only few are left. */
export function scarceDescriptors(threads: number, limit: number | undefined): string | undefined {
  if (limit === undefined) return undefined;
  const connections = limit - OF_PROCESS - OF_THREAD * threads;
  const cure = 'raise the limit (ulimit -n, LimitNOFILE of systemd) or set fewer --threads';
  if (connections <= 0) {
    throw new OperationError(
      'starved',
      `the process may open ${countText(limit)} descriptors, and ${countText(threads)} serving threads need ` +
        `${countText(limit - connections + 1)}: ${cure}`,
    );
  }
  if (connections >= CONNECTIONS_FEW) return undefined;
  return `connections that can be open at once: ${countText(connections)}, because the process may open ${countText(limit)} descriptors: ${cure}`;
}

/** The descriptor limit of this process; undefined except on Linux. Node has already raised it to the maximum. */
function descriptorLimit(): number | undefined {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

/** Four checks a second: a proxy that polls as often stops using a stale replica within a second. */
const LOOK_MS = 250;

/** Keeps the word at 1 while `isStale` returns true, else at 0. Returns a function that stops this. */
export function startStalenessFlag(word: Int32Array, isStale: () => boolean): () => void {
  const look = (): void => void Atomics.store(word, 0, isStale() ? 1 : 0);
  look();
  const timer = setInterval(look, LOOK_MS).unref();
  return () => clearInterval(timer);
}
