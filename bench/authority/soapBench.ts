// Measures the attribute authority against its controls and against other SOAP servers, in one run. The catalogue of
// the server is the embedded sample. Prints nothing.
import path from 'node:path';
import { SAMPLE } from '../../server/settings/declarations.ts';
import { openBenchAuthority, type BenchAuthority } from './authorityFiles.ts';
import { checkCall } from './callCheck.ts';
import { CALL_SCENARIOS, SIGNATURE_TARGETS, TRUSTED_HOSTS } from './callScenarios.ts';
import { ask } from '../scenarios/check.ts';
import { bareLoad } from '../scenarios/controlLoads.ts';
import type { MeasuredRatio } from '../budgets.ts';
import type { LoadObserver, LoadBenchOptions } from '../load/load.ts';
import { startLoadClient } from '../client/loadClient.ts';
import { startControl, startServer, type ListeningProcess } from '../processes/processes.ts';
import { measure, summaryOf, type Load, type Summary } from '../load/rounds.ts';
import type { CallScenario } from '../scenarios/scenario.ts';
import { SOAP_PEERS, startSoapPeer } from './soapPeers.ts';
import { onStage, type BenchStage } from '../processes/stage.ts';

/**
 * One call against one control or peer. `ratio` is our cost divided by that of the other. The targets are those of this
 * ratio.
 */
export interface SoapReport {
  readonly scenario: CallScenario;
  readonly beside: string;
  readonly subject: Summary;
  readonly other: Summary;
  readonly ratio: number;
  readonly pass: number | undefined;
  readonly great: number | undefined;
}

/** The options of the load benchmark that apply here. */
export type SoapBenchOptions = Pick<LoadBenchOptions, 'rounds' | 'warmUp' | 'requestsPart' | 'cacheDirectory'>;

/**
 * Runs the benchmark. Rejects if a response of the product is wrong. Omits a peer that cannot be installed or responds
 * differently.
 */
export function runSoapBench(
  options: SoapBenchOptions,
  observer: Pick<LoadObserver, 'onStep'>,
): Promise<readonly SoapReport[]> {
  return onStage(async (stage) => {
    observer.onStep('starting the attribute authority, its control and its peers');
    const authority = await stage.started(openBenchAuthority());
    const server = await stage.started(startServer(SAMPLE, { flags: authority.flags }));
    const control = await stage.started(startControl(0));
    const client = await stage.started(startLoadClient());
    const entered: Entered[] = [];
    for (const scenario of CALL_SCENARIOS) {
      const subject = await loadOf(server, scenario, authority, options);
      const loads = [subject, bareLoad(control, controlOf(scenario), subject, '')];
      const rivals =
        scenario === TRUSTED_HOSTS ? await startRivals(stage, server, { authority, options, observer }) : [];
      entered.push({ scenario, rivals, loads: [...loads, ...rivals.map(({ load }) => load)] });
    }
    const races = entered.map(({ scenario: { name }, loads }) => ({ name, loads }));
    const measured = await measure(client, races, options, (round) =>
      observer.onStep(round === 0 ? 'warming up' : `measuring, round ${round} of ${options.rounds}`),
    );
    return entered.flatMap((one, i) => reportsOf(one, measured[i]!.map(summaryOf)));
  });
}

/** Our cost relative to each peer, for its budget. */
export function soapRatios(reports: readonly SoapReport[]): readonly MeasuredRatio[] {
  return SOAP_PEERS.flatMap(({ name: peer, budget: name }) =>
    reports
      .filter(({ beside }) => beside === peer)
      .map(({ ratio, subject, other }) => ({ name, ratio, spread: other.spread, ownSpread: subject.spread })),
  );
}

interface Rival {
  readonly name: string;
  readonly pass: number | undefined;
  readonly load: Load;
}

interface Entered {
  readonly scenario: CallScenario;
  readonly rivals: readonly Rival[];
  readonly loads: readonly Load[];
}

/**
 * As the design asks, signatures replace the control of scenarios that the load benchmark compares with another call.
 */
function controlOf({ control }: CallScenario): Parameters<typeof bareLoad>[1] {
  return typeof control === 'object' ? 'signature' : control;
}

/** The targets of the design in signatures, also for requests with new texts. */
function targetsOf({ call, pass, great }: CallScenario): Pick<SoapReport, 'pass' | 'great'> {
  return call.operation === 'reqAuthorisation' ? SIGNATURE_TARGETS[call.provenance] : { pass, great };
}

async function loadOf(
  process: ListeningProcess,
  { call, requests }: CallScenario,
  authority: BenchAuthority,
  { requestsPart }: SoapBenchOptions,
): Promise<Load> {
  const { exchanges } = await checkCall(process.port, call, authority);
  return { process, exchanges, requests: Math.max(1, Math.round(requests * requestsPart)) };
}

interface Course {
  readonly authority: BenchAuthority;
  readonly options: SoapBenchOptions;
  readonly observer: Pick<LoadObserver, 'onStep'>;
}

/** The peers that return the same texts for the same request. */
async function startRivals(stage: BenchStage, { port }: ListeningProcess, course: Course): Promise<readonly Rival[]> {
  const { authority, options, observer } = course;
  const wsdl = (await ask(port, '/attAuthority.wsdl')).body.toString();
  const folder = path.join(options.cacheDirectory, 'peers');
  const rivals: Rival[] = [];
  for (const peer of SOAP_PEERS) {
    const { name, pass } = peer;
    const started = await startSoapPeer(peer, { folder, wsdl, call: TRUSTED_HOSTS.call });
    if ('missing' in started) {
      observer.onStep(`left out ${name}: ${started.missing}`);
      continue;
    }
    const process = await stage.started(started);
    rivals.push({ name, pass, load: await loadOf(process, TRUSTED_HOSTS, authority, options) });
  }
  return rivals;
}

function reportsOf({ scenario, rivals }: Entered, costs: readonly Summary[]): readonly SoapReport[] {
  const [subject, ...others] = costs;
  const besides = [
    { name: controlOf(scenario), ...targetsOf(scenario) },
    ...rivals.map((rival) => ({ ...rival, great: undefined })),
  ];
  return besides.map(({ name, ...targets }, i) => {
    const other = others[i]!;
    const ratio = subject!.least / other.least;
    return { scenario, beside: name, subject: subject!, other, ratio, pass: targets.pass, great: targets.great };
  });
}
