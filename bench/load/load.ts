// The load benchmark: prepares data, starts server, control and client, checks every response, measures, sums up.
// Prints nothing.
import type { OnProgress } from '../../data/progress.ts';
import { openBenchAuthority, type BenchAuthority } from '../authority/authorityFiles.ts';
import { guardedOf, type MeasuredRatio, type BudgetPlace } from '../budgets.ts';
import { checkCall } from '../authority/callCheck.ts';
import { answersAlike, checkQuestions, type RightAnswers } from '../scenarios/check.ts';
import { choiceFor } from '../scenarios/choice.ts';
import { bareLoad, sendTitles } from '../scenarios/controlLoads.ts';
import { prepareDataSet, type BenchDataSet, type DataSetOptions } from './dataSet.ts';
import { startLoadClient, type LoadClient } from '../client/loadClient.ts';
import { hasRoomFor } from '../processes/memory.ts';
import { readNaively } from '../scenarios/naive.ts';
import { startControl, startServer, type ListeningProcess } from '../processes/processes.ts';
import { chosenOf } from '../scenarios/only.ts';
import { prepareRevision } from './revision.ts';
import { measureAgain, summaryOf, type Load, type RoundCosts, type Race, type Summary } from './rounds.ts';
import type { Choice, ScenarioQuestion, Scenario } from '../scenarios/scenario.ts';
import { SCENARIOS } from '../scenarios/scenarios.ts';
import { onStage, type BenchStage } from '../processes/stage.ts';

/** Options of a run. */
export interface LoadBenchOptions extends DataSetOptions {
  readonly rounds: number;
  /** Names of scenarios; all if empty. */
  readonly only: readonly string[];
  /** Factor of the requests of a round: 1 for figures, less for a quick look. */
  readonly requestsPart: number;
  /** Multiple of a round's requests that run before the first round. */
  readonly warmUp: number;
  /** Memory over which cold views move: more than the machine's last-level cache. */
  readonly floorBytes: number;
  /** A revision to race against. */
  readonly against?: string | undefined;
  /** A module that the server's process loads first. */
  readonly preload?: string;
  /**
   * Ratios that exceed their budget at this place are measured again, because others on the machine may be the reason.
   * Undefined if the catalogue has another size than the budgets.
   */
  readonly place?: BudgetPlace | undefined;
}

/** Receives reports during a run: long work as progress, the rest as lines. */
export interface LoadObserver {
  readonly onProgress: OnProgress;
  onStep(line: string): void;
  /** Called after each measured scenario, with the reports so far and the number of scenarios without one. */
  onReports?(reports: readonly ScenarioReport[], missing: number): void;
}

/**
 * The cost of the same at another revision, and this tree's cost divided by it. Undefined if it responds differently.
 */
export interface Against {
  readonly revision: string;
  readonly cost: Summary;
  readonly ratio: number;
}

/**
 * The result of one scenario. `ratio` is the minimum cost of the subject divided by that of the control; `hash` is that
 * of its bodies.
 */
export interface ScenarioReport {
  readonly scenario: Scenario;
  readonly requests: number;
  readonly bytes: number;
  readonly subject: Summary;
  readonly control: Summary;
  readonly ratio: number;
  readonly hash: string;
  readonly against: Against | undefined;
}

/**
 * Runs the benchmark. Rejects if a response differs from the plain rows. Cost: see dataSet.ts, then seconds a round.
 */
export async function runLoadBench(
  options: LoadBenchOptions,
  observer: LoadObserver,
): Promise<readonly ScenarioReport[]> {
  const data = await prepareDataSet(options, observer.onProgress);
  observer.onStep('reading the NDJSON naively');
  const choice = choiceFor(await readNaively(data.directory));
  return onStage(async (stage) => {
    observer.onStep('starting server, control and client');
    const authority = await stage.started(openBenchAuthority());
    const servers = await startServers(stage, data, authority, options, observer);
    const revision = await startRevision(stage, data, options);
    const control = await stage.started(startControl(options.floorBytes));
    const client = await stage.started(startLoadClient());
    await sendTitles(control.port, choice.catalogue);
    return runScenarios({ options, choice, authority, servers, revision, control, client }, observer);
  });
}

interface Bench {
  readonly options: LoadBenchOptions;
  readonly choice: Choice;
  readonly authority: BenchAuthority;
  readonly servers: Servers;
  readonly revision: { readonly name: string; readonly process: ListeningProcess } | undefined;
  readonly control: ListeningProcess;
  readonly client: LoadClient;
}

/** A server for each number of serving threads and each set of flags that a scenario needs. */
type Servers = ReadonlyMap<string, ListeningProcess>;

async function startServers(
  stage: BenchStage,
  { snapshot }: BenchDataSet,
  authority: BenchAuthority,
  { only, preload, against }: LoadBenchOptions,
  { onStep }: LoadObserver,
): Promise<Servers> {
  const servers = new Map<string, ListeningProcess>();
  for (const [key, scenarios] of Map.groupBy(enteredOf(only), (one) => serverKeyOf(one, against))) {
    if (servers.size > 0 && !hasRoomFor(snapshot)) {
      onStep(`left out ${scenarios.map(({ name }) => name).join(', ')}: there is no memory for a server with ${key}`);
      continue;
    }
    const scenario = scenarios[0]!;
    const { threads = 1, flags = [] } = scenario;
    const own = scenarios.some((one) => 'call' in one) ? authority.flags : [];
    const options = { threads, flags: [...own, ...flags], ...(preload !== undefined && { preload }) };
    servers.set(key, await stage.started(startServer(snapshot, options)));
  }
  return servers;
}

/** The named scenarios and those that they are compared with, in the order of the table. */
function enteredOf(only: readonly string[]): readonly Scenario[] {
  const chosen = chosenOf(SCENARIOS, only);
  return SCENARIOS.filter((one) => chosen.some((two) => one === two || isControlOf(one, two)));
}

/**
 * Start options of a scenario's server. In a comparison with a revision, whose server has no authority, calls have a
 * separate server.
 */
function serverKeyOf(scenario: Pick<Scenario, 'threads' | 'flags'>, against: string | undefined): string {
  const { threads = 1, flags = [] } = scenario;
  const isApart = against !== undefined && 'call' in scenario;
  return [`--threads ${threads}`, ...(isApart ? ['--authority'] : []), ...flags].join(' ');
}

async function startRevision(
  stage: BenchStage,
  data: BenchDataSet,
  options: LoadBenchOptions,
): Promise<Bench['revision']> {
  if (options.against === undefined) return undefined;
  const prepared = prepareRevision(options.against, data, options.cacheDirectory);
  const { name, root, snapshot } = await stage.started(prepared);
  return { name, process: await stage.started(startServer(snapshot, { root })) };
}

/** A scenario with correct responses, and the exchanges of the revision with its own tags if it responds alike. */
interface Ready {
  readonly scenario: Scenario;
  readonly checked: RightAnswers;
  readonly revisionExchanges: RightAnswers['exchanges'] | undefined;
}

async function runScenarios(bench: Bench, observer: LoadObserver): Promise<readonly ScenarioReport[]> {
  const { only, rounds, warmUp, place, against } = bench.options;
  const hasServer = (one: Scenario): boolean => bench.servers.has(serverKeyOf(one, against));
  const chosen = chosenOf(SCENARIOS, only).filter(hasServer);
  const ready = new Map<string, Ready>();
  for (const scenario of enteredOf(only).filter(hasServer)) {
    observer.onStep(`checking ${scenario.name}`);
    ready.set(scenario.name, await readyOf(bench, scenario, observer));
  }
  const races = chosen.map(({ name }) => raceOf(bench, ready, ready.get(name)!));
  const onRound = (round: number): void =>
    observer.onStep(round === 0 ? 'warming up' : `measuring, round ${round} of ${rounds}`);
  const reportAt = (i: number, measured: RoundCosts): ScenarioReport =>
    reportOf(bench, ready.get(chosen[i]!.name)!, races[i]!, measured);
  const measured = await measureAgain(
    bench.client,
    races,
    { rounds, warmUp },
    {
      onRound,
      onMeasured: (costs) => {
        const reports = costs.flatMap((rounds, i) => (rounds.at(-1)!.length > 0 ? [reportAt(i, rounds)] : []));
        observer.onReports?.(reports, chosen.length - reports.length);
      },
      onAgain: (names) => observer.onStep(`measuring again: ${names.join(', ')}`),
      isLost: (i, rounds) => place !== undefined && guardedOf(measuredRatio(reportAt(i, rounds)), place) === 'lost',
    },
  );
  return measured.map((rounds, i) => reportAt(i, rounds));
}

/** The ratio of a report, for its budget. */
export function measuredRatio({ scenario: { name }, ratio, subject, control }: ScenarioReport): MeasuredRatio {
  return { name, ratio, spread: control.spread, ownSpread: subject.spread };
}

function isControlOf(one: Scenario, two: Scenario): boolean {
  return typeof two.control === 'object' && two.control.scenario === one.name;
}

async function readyOf(bench: Bench, scenario: Scenario, observer: LoadObserver): Promise<Ready> {
  const { port } = serverOf(bench, scenario);
  // Another revision never signs the same bytes.
  if ('call' in scenario) {
    return { scenario, checked: await checkCall(port, scenario.call, bench.authority), revisionExchanges: undefined };
  }
  const questions: readonly ScenarioQuestion[] = scenario.questions(bench.choice);
  const checked = await checkQuestions(port, questions, bench.choice.catalogue);
  return { scenario, checked, revisionExchanges: await revisionExchangesOf(bench, scenario, questions, observer) };
}

/** The exchanges for the revision. Undefined, with a report, if it responds differently or has no server for them. */
async function revisionExchangesOf(
  bench: Bench,
  scenario: Scenario,
  questions: readonly ScenarioQuestion[],
  observer: LoadObserver,
): Promise<Ready['revisionExchanges']> {
  const { revision, options } = bench;
  const isUsual = serverKeyOf(scenario, options.against) === serverKeyOf({}, undefined);
  if (revision === undefined || !isUsual) return undefined;
  const { port } = revision.process;
  if (await answersAlike(serverOf(bench, scenario).port, port, questions)) {
    return (await checkQuestions(port, questions, bench.choice.catalogue)).exchanges;
  }
  observer.onStep(`${revision.name} answers ${scenario.name} otherwise: not raced against it`);
  return undefined;
}

function serverOf({ servers, options }: Bench, scenario: Scenario): ListeningProcess {
  return servers.get(serverKeyOf(scenario, options.against))!;
}

function loadOf(bench: Bench, { scenario, checked }: Ready): Load {
  const { exchanges } = checked;
  return { process: serverOf(bench, scenario), exchanges, requests: requestsOf(bench, scenario) };
}

/** The scenario, its control, and the revision if it responds alike. */
function raceOf(bench: Bench, ready: ReadonlyMap<string, Ready>, one: Ready): Race {
  const { name, control, connections } = one.scenario;
  const subject = loadOf(bench, one);
  const { choice, revision } = bench;
  const bare = (kind: Exclude<typeof control, object>): Load => bareLoad(bench.control, kind, subject, choice.word);
  const loads = [subject, typeof control === 'string' ? bare(control) : loadOf(bench, ready.get(control.scenario)!)];
  const exchanges = one.revisionExchanges;
  if (exchanges) loads.push({ ...subject, exchanges, process: revision!.process });
  return { name, loads: loads.map((load) => ({ ...load, connections })) };
}

function requestsOf({ options }: Bench, { requests }: Scenario): number {
  return Math.max(1, Math.round(requests * options.requestsPart));
}

function reportOf(
  { revision }: Bench,
  { scenario, checked }: Ready,
  { loads }: Race,
  measured: RoundCosts,
): ScenarioReport {
  const [subject, control, other] = measured.map(summaryOf);
  const [{ requests, exchanges }, controlLoad] = loads as [Load, Load];
  const isByByte = typeof scenario.control === 'object' && scenario.control.per === 'byte';
  const bytes = meanBytes({ exchanges });
  const ratio = (subject!.least / control!.least) * (isByByte ? meanBytes(controlLoad) / bytes : 1);
  const against = other && { revision: revision!.name, cost: other, ratio: subject!.least / other.least };
  return { scenario, requests, bytes, subject: subject!, control: control!, ratio, hash: checked.hash, against };
}

function meanBytes({ exchanges }: Pick<Load, 'exchanges'>): number {
  return exchanges.reduce((sum, { bytes }) => sum + bytes, 0) / exchanges.length;
}
