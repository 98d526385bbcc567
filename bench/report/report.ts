// The printed tables of a benchmark: ratios, with the verdict on each, its budget, and what was skipped for noise. Pure
// text.
import { bytesText } from '../../server/observe/quantities.ts';
import { BUDGETS, guardedOf, type GuardLines, MICRO_BUDGETS, type BudgetPlace, verdictOf } from '../budgets.ts';
import type { InstructionReport } from '../load/instructions.ts';
import { measuredRatio, type ScenarioReport } from '../load/load.ts';
import type { MicroReport } from '../micro/micro.ts';
import type { WaitReport } from '../load/waits.ts';
import type { ImportCost, ImportRaceReport } from '../peers/importRace.ts';
import type { PeerReport } from '../peers/peerBench.ts';
import { BARE, KEEPING_REPLICA, PEERS, TARGET_PEER } from '../peers/peers.ts';
import type { SoapReport } from '../authority/soapBench.ts';
import type { StartReport } from '../load/startBench.ts';
import { ratiosOf, type ProxyPoint } from '../proxy/proxyBench.ts';
import { type GrowthReport, GROWTHS } from '../scenarios/growth.ts';

/** Rows of cells. The first row is the head. */
export type ReportTable = readonly (readonly string[])[];

/** The table of a load benchmark. CPU microseconds are for orientation on this machine; budgets are ratios. */
export function loadTable(reports: readonly ScenarioReport[], place: BudgetPlace | undefined): ReportTable {
  const revision = reports.find(({ against }) => against)?.against?.revision;
  const head = revision === undefined ? LOAD_HEAD : [...LOAD_HEAD, `${revision} us`, `ratio to ${revision}`];
  return [head, ...reports.map((report) => loadRow(report, place, revision !== undefined))];
}

function loadRow(report: ScenarioReport, place: BudgetPlace | undefined, hasRevision: boolean): readonly string[] {
  const { scenario, requests, subject, control, ratio, hash, against } = report;
  const { name, what, pass, great } = scenario;
  const compared = typeof scenario.control === 'string' ? scenario.control : scenario.control.scenario;
  const costs = [subject.least.toFixed(1), control.least.toFixed(1), compared, ratio.toFixed(2)];
  const spreads = [percentText(subject.spread), percentText(control.spread)];
  const targets = [targetText(pass), targetText(great), verdictOf({ ratio, spread: control.spread, pass, great })];
  const guard = guardedOf(measuredRatio(report), place);
  const budget = BUDGETS.ratios[name]?.most.toFixed(2) ?? '-';
  const other = against ? [against.cost.least.toFixed(1), against.ratio.toFixed(2)] : ['-', '-'];
  return [
    name,
    what,
    `${requests}`,
    ...costs,
    ...spreads,
    ...targets,
    budget,
    guard,
    hash,
    ...(hasRevision ? other : []),
  ];
}

function targetText(target: number | undefined): string {
  return target === undefined ? '-' : `${target}`;
}

/** The table of waits of clients: next to an expensive client, and at a fixed rate of arrivals. */
export function waitTable(reports: readonly WaitReport[], place: BudgetPlace | undefined): ReportTable {
  const rows = reports.map((report) => {
    const { name, what, ratio, spread, pass, great } = report;
    const targets = [pass, great].map((target) => target?.toFixed(2) ?? '-');
    const verdict = verdictOf({ ratio, spread, pass, great });
    return [name, what, ratio.toFixed(2), percentText(spread), ...targets, verdict, guardedOf(report, place)];
  });
  return [WAIT_HEAD, ...rows];
}

const WAIT_HEAD = 'figure,what,ratio,spread of control,pass,great,verdict,guard'.split(',');

/**
 * The table of the peers: a row for each question, a column for each peer with its CPU as a multiple of the replica's,
 * then `PEER_VERDICT`.
 */
export function peerTable(reports: readonly PeerReport[]): ReportTable {
  const names = peerNames(reports);
  const head = ['question', 'replica us', ...names, ...PEER_VERDICT];
  const rows = reports.map((report) => {
    const { question, subject, peers } = report;
    const texts = names.map((name) => timesText(peers.find(({ peer }) => peer === name)?.ratio));
    return [question.what, subject.least.toFixed(1), ...texts, ...peerVerdict(report)];
  });
  return [head, ...rows];
}

/** The columns after the multiples: the verdict by the targets of the design, which are for one peer. */
const PEER_VERDICT = ['spread', 'pass', 'great', 'verdict'] as const;

/** These cells of a question. The spread is the larger one of the replica and of the peer with targets, if that ran. */
function peerVerdict({ question, subject, peers }: PeerReport): readonly string[] {
  const { pass, great } = question;
  const targeted = peers.find(({ peer }) => peer === TARGET_PEER);
  const spread = Math.max(subject.spread, targeted?.cost.spread ?? 0);
  // These targets are the minimum for the peer; all others are the maximum for the replica.
  const verdict = targeted ? verdictOf({ ratio: 1 / targeted.ratio, spread, pass: 1 / pass, great: 1 / great }) : '-';
  return [percentText(spread), `${pass}`, `${great}`, verdict];
}

/** The peers of a run, in the order of their table. */
function peerNames(reports: readonly PeerReport[]): readonly string[] {
  return [...PEERS.map(({ name }) => name), KEEPING_REPLICA, 'nginx', BARE].filter((name) =>
    reports.some(({ peers }) => peers.some(({ peer }) => peer === name)),
  );
}

/** A ratio with two digits, or a dash. */
function timesText(ratio: number | undefined): string {
  if (ratio === undefined) return '-';
  return ratio < 1 ? ratio.toFixed(2) : ratio < 10 ? ratio.toFixed(1) : ratio.toFixed(0);
}

/** The cost of loading a whole data set, a row for each program, ours first. */
export function importTable(report: ImportRaceReport): ReportTable {
  return [IMPORT_HEAD, ...importCells(report)];
}

/** `times` is our wall time as a multiple of the program's. */
const IMPORT_HEAD = 'import,wall s,CPU s,peak,file,times,spread,pass,great,verdict'.split(',');

function importCells({ subject, peers }: ImportRaceReport): ReportTable {
  const costs = ({ seconds, cpuSeconds, peakBytes, fileBytes }: ImportCost): readonly string[] => [
    seconds.least.toFixed(1),
    cpuSeconds.least.toFixed(1),
    bytesText(peakBytes),
    bytesText(fileBytes),
  ];
  const ours = ['this program', ...costs(subject), '-', percentText(subject.seconds.spread), '-', '-', '-'];
  const others = peers.map(({ peer: { name, pass, great }, cost, ratio }) => {
    const { spread } = cost.seconds;
    const verdict = verdictOf({ ratio, spread, pass, great });
    return [name, ...costs(cost), ratio.toFixed(2), percentText(spread), targetText(pass), targetText(great), verdict];
  });
  return [ours, ...others];
}

/** How the cost of each scenario grows with the catalogue, and how it may. */
export function growthTable(reports: readonly GrowthReport[]): ReportTable {
  const sizes = reports[0]?.points.map(({ observations }) => `us at ${observations.toLocaleString('en')}`) ?? [];
  return [['scenario', 'may grow', ...sizes, 'slope', 'times', 'most', 'guard'], ...reports.map(growthCells)];
}

function growthCells({ scenario, points, slope, times, most, verdict }: GrowthReport): readonly string[] {
  const costs = points.map(({ microseconds }) => microseconds.toFixed(1));
  const figures = [slope, times, most].map((value) => value.toFixed(2));
  return [scenario.name, GROWTHS[scenario.grows].what, ...costs, ...figures, verdict];
}

/**
 * Lines about scenarios that grew too much, that could not be compared, or that were `dropped` because some size lacks
 * a figure. Good if at least one grew as it may and none grew more.
 */
export function growthLines(reports: readonly GrowthReport[], dropped: readonly string[] = []): GuardLines {
  const lines = reports.flatMap(({ scenario: { name, grows }, times, most, verdict }) => {
    if (verdict === 'held') return [];
    if (verdict === 'too noisy') return [`${name}: not judged, its rounds disagree`];
    return [
      `${name} costs ${times.toFixed(2)} times as much at the largest size, at most ${most.toFixed(2)} are allowed: it may grow ${GROWTHS[grows].what} (bench/scenarios)`,
    ];
  });
  const left = dropped.map((name) => `${name}: left out, it was not measured at every size`);
  const held = reports.filter(({ verdict }) => verdict === 'held').length;
  const isGood = held > 0 && reports.every(({ verdict }) => verdict !== 'lost');
  return { lines: [...lines, ...left, `${held} of ${reports.length} grow as they may`], isGood };
}

/** The table of the attribute authority against its controls and peers. */
export function soapTable(reports: readonly SoapReport[]): ReportTable {
  return [SOAP_HEAD, ...reports.map(soapCells)];
}

const SOAP_HEAD = 'call,what,CPU us,beside,its CPU us,ratio,spread,its spread,pass,great,verdict'.split(',');

function soapCells({ scenario, beside, subject, other, ratio, pass, great }: SoapReport): readonly string[] {
  const costs = [subject.least.toFixed(1), beside, other.least.toFixed(1), ratio.toFixed(2)];
  const spreads = [percentText(subject.spread), percentText(other.spread)];
  const verdict = verdictOf({ ratio, spread: other.spread, pass, great });
  return [scenario.name, scenario.what, ...costs, ...spreads, targetText(pass), targetText(great), verdict];
}

/** The table of the micro-benchmarks. */
export function microTable(reports: readonly MicroReport[], place: BudgetPlace | undefined): ReportTable {
  const rows = reports.map((report) => {
    const { name, calibration, nanoseconds, ratio, spread, pass, great, hash } = report;
    const targets = [pass, great].map(targetText);
    const outcome = verdictOf({ ratio, spread, pass, great });
    const budget = MICRO_BUDGETS.ratios[name]?.most.toFixed(2) ?? '-';
    return [
      name,
      nanoseconds.toFixed(0),
      calibration,
      ratio.toFixed(3),
      percentText(spread),
      ...targets,
      outcome,
      budget,
      guardedOf(report, place, MICRO_BUDGETS),
      hash,
    ];
  });
  return [MICRO_HEAD, ...rows];
}

/** The table of instructions per request. They are the same in every run, except for garbage collection. */
export function instructionTable(reports: readonly InstructionReport[]): ReportTable {
  const rows = reports.map(({ name, what, subject, control, bare }) => {
    const counts = [subject, bare, subject - bare].map((one) => one.toLocaleString('en-US'));
    return [name, what, ...counts, control, (subject / bare).toFixed(2)];
  });
  return [INSTRUCTION_HEAD, ...rows];
}

const INSTRUCTION_HEAD = 'scenario,what,instructions,of the control,more,control,ratio'.split(',');

const LOAD_HEAD =
  'scenario,what,requests,CPU us,control us,control,ratio,spread,control spread,pass,great,verdict,budget,guard,hash'.split(
    ',',
  );
const MICRO_HEAD = 'task,ns,calibration,ratio,spread,pass,great,verdict,budget,guard,hash'.split(',');

function percentText(part: number): string {
  return `${(part * 100).toFixed(0)} %`;
}

/** The table of the proxies: each way under each load, with its ratios to the direct way under the same load. */
export function proxyTable(points: readonly ProxyPoint[]): ReportTable {
  return [PROXY_HEAD, ...points.map((point) => proxyCells(point, points))];
}

const PROXY_HEAD =
  'way,load,requests/s,p50 ms,p99 ms,p99.9 ms,errors,replicas us,proxy us,client us,p50,p99,p99.9,replicas,CPU'.split(
    ',',
  );

function proxyCells(point: ProxyPoint, points: readonly ProxyPoint[]): readonly string[] {
  const { way, part, perSecond, p50Ms, p99Ms, p999Ms, errors, cpu } = point;
  const { p50, p99, p999, replicas, cpu: all } = ratiosOf(point, points);
  const load = part === undefined ? 'closed loop' : `open loop, ${percentText(part)}`;
  const times = [p50Ms, p99Ms, p999Ms].map((ms) => ms.toFixed(2));
  const costs = [cpu.replicas, cpu.proxy, cpu.client].map((us) => us.toFixed(0));
  const ratios = [p50, p99, p999, replicas, all].map((ratio) => ratio.toFixed(2));
  return [way, load, perSecond.toFixed(0), ...times, `${errors}`, ...costs, ...ratios];
}

/** The table of starts. */
export function startTable(reports: readonly StartReport[]): ReportTable {
  const rows = reports.map(({ what, threads, wallMs, cpuMs }) => {
    const figures = [wallMs, cpuMs].flatMap((sorted) => [sorted[0]!, sorted[sorted.length >> 1]!]);
    return [what, `${threads}`, ...figures.map((ms) => ms.toFixed(0))];
  });
  return [START_HEAD, ...rows];
}

const START_HEAD = 'start from,threads,least ms,median ms,least CPU ms,median CPU ms'.split(',');
