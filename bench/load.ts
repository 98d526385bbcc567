// The load bench: prepares the data, starts server, control and client, checks every answer, measures, sums up.
// Composition only; prints nothing. Called by bench.ts and by tests.
import type { OnProgress } from '../data/progress.ts';
import { checkQuestions, type Checked } from './check.ts';
import { choiceFor } from './choice.ts';
import { prepareDataSet, type DataSetOptions } from './dataSet.ts';
import { startLoadClient, type Exchange, type LoadClient } from './loadClient.ts';
import { readNaively, type NaiveCatalogue } from './naive.ts';
import { startControl, startServer, type ListeningProcess } from './processes.ts';
import { chosenOf } from './only.ts';
import { measure, summaryOf, type Load, type Measured, type Pair, type Summary } from './rounds.ts';
import { SCENARIOS, type Choice, type Control, type Scenario } from './scenarios.ts';

/**
 * What to run. `only` names scenarios, all when empty. `requestsPart` scales the requests of every round: 1 for figures,
 * less for a quick look. `floorBytes` is the memory that cold views move over: more than the machine's last cache.
 */
export interface LoadOptions extends DataSetOptions {
  readonly rounds: number;
  readonly only: readonly string[];
  readonly requestsPart: number;
  readonly floorBytes: number;
}

/** What is told while it runs: long work as progress, the rest as lines. */
export interface LoadObserver {
  readonly onProgress: OnProgress;
  onStep(line: string): void;
}

/** One scenario's outcome. `ratio` is the least cost of the subject over that of the control, `hash` that of its bodies. */
export interface ScenarioReport {
  readonly scenario: Scenario;
  readonly requests: number;
  readonly subject: Summary;
  readonly control: Summary;
  readonly ratio: number;
  readonly hash: string;
}

/** Runs the bench. Rejects when an answer is not what the plain rows say. Cost: see dataSet.ts, then seconds a round. */
export async function runLoadBench(options: LoadOptions, observer: LoadObserver): Promise<readonly ScenarioReport[]> {
  const { directory, snapshot } = await prepareDataSet(options, observer.onProgress);
  observer.onStep('reading the NDJSON naively');
  const choice = choiceFor(await readNaively(directory));
  const running: { stop(): Promise<void> }[] = [];
  const started = <T extends { stop(): Promise<void> }>(one: T): T => {
    running.push(one);
    return one;
  };
  try {
    observer.onStep('starting server, control and client');
    const server = started(await startServer(snapshot));
    const control = started(await startControl(options.floorBytes));
    const client = started(startLoadClient());
    await sendTitles(control.port, choice.catalogue);
    return await runScenarios({ options, choice, server, control, client }, observer);
  } finally {
    await Promise.all(running.map((one) => one.stop()));
  }
}

interface Bench {
  readonly options: LoadOptions;
  readonly choice: Choice;
  readonly server: ListeningProcess;
  readonly control: ListeningProcess;
  readonly client: LoadClient;
}

/** A scenario whose answers are right. */
interface Ready {
  readonly scenario: Scenario;
  readonly checked: Checked;
}

async function runScenarios(bench: Bench, observer: LoadObserver): Promise<readonly ScenarioReport[]> {
  const { only, rounds } = bench.options;
  const chosen = chosenOf(SCENARIOS, only);
  const ready = new Map<string, Ready>();
  for (const scenario of SCENARIOS.filter((one) => chosen.some((two) => one === two || isControlOf(one, two)))) {
    observer.onStep(`checking ${scenario.name}`);
    const questions = scenario.questions(bench.choice);
    const checked = await checkQuestions(bench.server.port, questions, bench.choice.catalogue);
    ready.set(scenario.name, { scenario, checked });
  }
  const pairs = chosen.map(({ name }) => pairOf(bench, ready, ready.get(name)!));
  const onRound = (round: number): void =>
    observer.onStep(round === 0 ? 'warming up' : `measuring, round ${round} of ${rounds}`);
  const measured = await measure(bench.client, pairs, rounds, onRound);
  return chosen.map((scenario, i) => reportOf(ready.get(scenario.name)!, pairs[i]!, measured[i]!));
}

function isControlOf(one: Scenario, two: Scenario): boolean {
  return typeof two.control === 'object' && two.control.scenario === one.name;
}

function pairOf(bench: Bench, ready: ReadonlyMap<string, Ready>, { scenario, checked }: Ready): Pair {
  const { name, control } = scenario;
  const subject: Load = { process: bench.server, exchanges: checked.exchanges, requests: requestsOf(bench, scenario) };
  if (typeof control === 'string') return { name, subject, control: bareLoad(bench, control, subject) };
  const other = ready.get(control.scenario)!;
  const { exchanges } = other.checked;
  return { name, subject, control: { process: bench.server, exchanges, requests: requestsOf(bench, other.scenario) } };
}

/** As many exchanges as the subject has; the views of `page` lie one after the other, as pages do. */
function bareLoad({ control, choice }: Bench, kind: Extract<Control, string>, subject: Load): Load {
  let at = 0;
  const exchanges = subject.exchanges.map(({ bytes }): Exchange => {
    at += bytes;
    switch (kind) {
      case 'bare':
        return { target: '/bare', status: 200, bytes: BARE_BYTES };
      case 'scan':
        return { target: `/scan/${encodeURIComponent(choice.word)}`, status: 200, bytes: BARE_BYTES };
      case 'page':
        return { target: `/page/${bytes}/${at - bytes}`, status: 200, bytes };
      case 'floor':
        return { target: `/floor/${bytes}`, status: 200, bytes };
    }
  });
  return { ...subject, process: control, exchanges };
}

const BARE_BYTES = 300;

function requestsOf({ options }: Bench, { requests }: Scenario): number {
  return Math.max(1, Math.round(requests * options.requestsPart));
}

function reportOf({ scenario, checked }: Ready, pair: Pair, measured: Measured): ScenarioReport {
  const subject = summaryOf(measured.subject);
  const control = summaryOf(measured.control);
  const isByByte = typeof scenario.control === 'object' && scenario.control.each === 'byte';
  const bytes = isByByte ? meanBytes(pair.control) / meanBytes(pair.subject) : 1;
  const ratio = (subject.least / control.least) * bytes;
  return { scenario, requests: pair.subject.requests, subject, control, ratio, hash: checked.hash };
}

function meanBytes({ exchanges }: Load): number {
  return exchanges.reduce((sum, { bytes }) => sum + bytes, 0) / exchanges.length;
}

/** Gives the control the titles to scan. */
async function sendTitles(port: number, { rows }: NaiveCatalogue): Promise<void> {
  const { request } = await import('node:http');
  const text = Buffer.from(rows.map(({ title }) => title).join('\n'));
  await new Promise<void>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: '/text', method: 'POST', agent: false }, (response) => {
      response.resume();
      response.once('end', resolve);
    });
    sent.once('error', reject);
    sent.end(text);
  });
}
