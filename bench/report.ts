// What a bench prints: a table of ratios, with the verdict on each and what was skipped for noise.
// Pure text; measures nothing. Called by bench.ts.
import { tableText } from '../server/terminal.ts';
import type { ScenarioReport } from './load.ts';
import type { MicroReport } from './micro.ts';
import { verdictOf } from './verdict.ts';

/** The table of a load bench. CPU microseconds are of this machine, for orientation; what is promised are ratios. */
export function loadTable(reports: readonly ScenarioReport[]): string {
  const rows = reports.map((report) => {
    const { scenario, requests, subject, control, ratio, hash } = report;
    const { name, what, pass, great } = scenario;
    const against = typeof scenario.control === 'string' ? scenario.control : scenario.control.scenario;
    const costs = [subject.least.toFixed(1), control.least.toFixed(1)];
    const spreads = [percentText(subject.spread), percentText(control.spread)];
    const outcome = verdictOf({ ratio, spread: control.spread, pass, great });
    return [
      name,
      what,
      `${requests}`,
      ...costs,
      against,
      ratio.toFixed(2),
      ...spreads,
      `${pass}`,
      `${great}`,
      outcome,
      hash,
    ];
  });
  return tableText([LOAD_HEAD, ...rows]);
}

/** The table of the micro-benchmarks. */
export function microTable(reports: readonly MicroReport[]): string {
  const rows = reports.map(({ name, calibration, nanoseconds, ratio, spread, pass, great, hash }) => {
    const targets = [pass, great].map((target) => (target === undefined ? '-' : `${target}`));
    const outcome = pass === undefined || great === undefined ? '-' : verdictOf({ ratio, spread, pass, great });
    return [
      name,
      nanoseconds.toFixed(0),
      calibration,
      ratio.toFixed(3),
      percentText(spread),
      ...targets,
      outcome,
      hash,
    ];
  });
  return tableText([MICRO_HEAD, ...rows]);
}

const LOAD_HEAD =
  'scenario,what,requests,CPU us,control us,control,ratio,spread,control spread,pass,great,verdict,hash'.split(',');
const MICRO_HEAD = 'task,ns,calibration,ratio,spread,pass,great,verdict,hash'.split(',');

function percentText(part: number): string {
  return `${(part * 100).toFixed(0)} %`;
}
