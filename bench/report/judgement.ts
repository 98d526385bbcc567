// The output of each run of the benchmark: its tables, then the lines of the budgets. Pure: report.ts makes the tables,
// budgets.ts compares. To compare another run, add its function here.
import { tableText } from '../../server/commands/terminal.ts';
import { soapRatios, type SoapReport } from '../authority/soapBench.ts';
import { guardLines, MICRO_BUDGETS, type BudgetPlace, type GuardLines, type MeasuredRatio } from '../budgets.ts';
import { measuredRatio, type ScenarioReport } from '../load/load.ts';
import { droppedOf, growthsOf, type SizeReport } from '../load/sizes.ts';
import type { WaitReport } from '../load/waits.ts';
import type { MicroReport } from '../micro/micro.ts';
import { importRatios, type ImportRaceReport } from '../peers/importRace.ts';
import { BARE_OF_NGINX_MAX, bareOfNginx, besideNginx, type PeerReport } from '../peers/peerBench.ts';
import { proxyFigures, type ProxyPoint } from '../proxy/proxyBench.ts';
import {
  growthLines,
  growthTable,
  importTable,
  loadTable,
  microTable,
  peerTable,
  proxyTable,
  soapTable,
  waitTable,
  type ReportTable,
} from './report.ts';

/** The output of a run, and whether it is good: with a place, something was held and nothing was lost. */
export interface Judgement {
  readonly text: string;
  readonly isGood: boolean;
}

/** A run whose results are printed but not compared. */
export function tableJudgement(table: ReportTable): Judgement {
  return judgementOf([table], { lines: [], isGood: true });
}

/** Combines several runs. */
export function jointJudgement(parts: readonly Judgement[]): Judgement {
  return { text: parts.map(({ text }) => text).join('\n\n'), isGood: parts.every(({ isGood }) => isGood) };
}

function judgementOf(tables: readonly ReportTable[], { lines, isGood }: GuardLines): Judgement {
  const texts = [...tables.map((table) => tableText(table, Infinity)), lines.join('\n')].filter((text) => text !== '');
  return { text: texts.join('\n\n'), isGood };
}

/** The load benchmark, and the waits of clients if measured. */
export function loadJudgement(
  reports: readonly ScenarioReport[],
  waits: readonly WaitReport[],
  place: BudgetPlace | undefined,
): Judgement {
  const tables = [loadTable(reports, place), ...(waits.length > 0 ? [waitTable(waits, place)] : [])];
  return judgementOf(tables, guardLines([...reports.map(measuredRatio), ...waits], place));
}

/** The growth of costs. Its bounds do not depend on a size. */
export function growthJudgement(sizes: readonly SizeReport[]): Judgement {
  const growths = growthsOf(sizes);
  return judgementOf([growthTable(growths)], growthLines(growths, droppedOf(sizes)));
}

/** The race with peers. Nothing is compared with nginx if sending a file is far cheaper than a copy. */
export function peerJudgement(reports: readonly PeerReport[], place: BudgetPlace | undefined): Judgement {
  const bare = reports.map(bareOfNginx).find((one) => one !== undefined);
  const isDear = bare !== undefined && bare > BARE_OF_NGINX_MAX;
  const why = `nginx: not judged, bare uWebSockets.js alone needs ${bare?.toFixed(2)} times as much here`;
  const guarded = isDear ? { lines: [why], isGood: true } : besidePeers(reports.flatMap(besideNginx), place);
  return judgementOf([peerTable(reports)], guarded);
}

/** The race of imports. */
export function importJudgement(report: ImportRaceReport, place: BudgetPlace | undefined): Judgement {
  return judgementOf([importTable(report)], besidePeers(importRatios(report), place));
}

/** The attribute authority against its controls and peers. */
export function soapJudgement(reports: readonly SoapReport[], place: BudgetPlace): Judgement {
  return judgementOf([soapTable(reports)], besidePeers(soapRatios(reports), place));
}

/** Without peers on a machine, a line reports that and nothing is lost. */
function besidePeers(measured: readonly MeasuredRatio[], place: BudgetPlace | undefined): GuardLines {
  const { lines, isGood } = guardLines(measured, place);
  return { lines, isGood: isGood || measured.length === 0 };
}

/** The mix through proxies, in which no request may fail. */
export function proxyJudgement(points: readonly ProxyPoint[], place: BudgetPlace): Judgement {
  const { lines, isGood } = guardLines(proxyFigures(points), place);
  const errors = points.reduce((sum, point) => sum + point.errors, 0);
  const failed = errors === 0 ? [] : [`${errors} requests failed`];
  return judgementOf([proxyTable(points)], { lines: [...lines, ...failed], isGood: isGood && errors === 0 });
}

/** The micro-benchmarks. `skipped` lists those that could not run. */
export function microJudgement(
  reports: readonly MicroReport[],
  place: BudgetPlace | undefined,
  skipped: readonly string[],
): Judgement {
  const { lines, isGood } = guardLines(reports, place, MICRO_BUDGETS, 'micro');
  return judgementOf([microTable(reports, place)], { lines: [...lines, ...skipped], isGood });
}
