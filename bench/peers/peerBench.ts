// Races the replica against peers on the same data: the same requests, with responses compared before anything is
// measured. Peers that cannot be installed are omitted and reported.
import { deepStrictEqual } from 'node:assert/strict';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ask, checkQuestions } from '../scenarios/check.ts';
import { choiceFor } from '../scenarios/choice.ts';
import { bareLoad } from '../scenarios/controlLoads.ts';
import { guardedOf, type MeasuredRatio } from '../budgets.ts';
import { prepareDataSet, textHash, type BenchDataSet } from '../load/dataSet.ts';
import type { LoadObserver, LoadBenchOptions } from '../load/load.ts';
import { startLoadClient, type Exchange } from '../client/loadClient.ts';
import { hasRoomFor } from '../processes/memory.ts';
import { readNaively } from '../scenarios/naive.ts';
import { startDjangoPeer } from './djangoPeer.ts';
import { startNginx } from './nginx.ts';
import { installPeers, type PeerInstall } from './peerInstall.ts';
import { BARE, KEEPING_REPLICA, PEER_QUESTIONS, PEERS, type Peer, type PeerQuestion } from './peers.ts';
import {
  BENCH_BASE_URL,
  KEEPING_ANSWERS,
  startControl,
  startListening,
  startServer,
  type ListeningProcess,
} from '../processes/processes.ts';
import { measureAgain, summaryOf, type Load, type RoundCosts, type Race, type Summary } from '../load/rounds.ts';
import type { Choice, ScenarioQuestion } from '../scenarios/scenario.ts';
import { onStage, type BenchStage } from '../processes/stage.ts';

/** The cost of one peer for a question, and as a multiple of the replica's CPU. */
export interface PeerCost {
  readonly peer: string;
  readonly cost: Summary;
  readonly ratio: number;
}

/** One question with the cost of the replica and of the peers that respond alike. */
export interface PeerReport {
  readonly question: PeerQuestion;
  readonly subject: Summary;
  readonly peers: readonly PeerCost[];
}

/** Memory of the control's floor, which no peer is compared with. */
const CONTROL_BYTES = 16 << 20;

/** A running peer. */
interface Rival {
  readonly peer: Peer;
  readonly process: ListeningProcess;
}

/** Runs the race. Rejects if a response of the replica is wrong. Cost: an import, an install, then seconds a round. */
export async function runPeerBench(options: LoadBenchOptions, observer: LoadObserver): Promise<readonly PeerReport[]> {
  const data = await prepareDataSet(options, observer.onProgress);
  observer.onStep('reading the NDJSON naively');
  const choice = choiceFor(await readNaively(data.directory));
  return onStage(async (stage) => {
    const server = await stage.started(startServer(data.snapshot));
    const rivals = await startPeers(stage, data, options, observer);
    const client = await stage.started(startLoadClient());
    const entered: Entered[] = [];
    for (const question of PEER_QUESTIONS) {
      observer.onStep(`checking ${question.name}`);
      entered.push(await raceOf({ stage, data, server, rivals, choice, options, observer }, question));
    }
    const onRound = (round: number): void => observer.onStep(`measuring, round ${round} of ${options.rounds}`);
    const races = entered.map(({ race }) => race);
    const reportAt = (i: number, measured: RoundCosts): PeerReport =>
      reportOf(entered[i]!.question, entered[i]!.names, measured.map(summaryOf));
    const measured = await measureAgain(client, races, options, {
      onRound,
      onAgain: (names) => observer.onStep(`measuring again: ${names.join(', ')}`),
      isLost: (i, rounds) => isLost(besideNginx(reportAt(i, rounds)), options.place),
    });
    return entered.map((_, i) => reportAt(i, measured[i]!));
  });
}

function isLost(ratios: readonly MeasuredRatio[], place: LoadBenchOptions['place']): boolean {
  return place !== undefined && ratios.some((one) => guardedOf(one, place) === 'lost');
}

/**
 * Ratios to nginx, which sends the same bytes as a file, for budgets of these names: `nginx` for the replica,
 * `nginxKept` for the replica that caches responses. Empty if the question has no static file.
 */
export function besideNginx({ subject, peers }: PeerReport): readonly MeasuredRatio[] {
  const costOf = (name: string): PeerCost | undefined => peers.find(({ peer }) => peer === name);
  const [nginx, kept] = [costOf('nginx'), costOf(KEEPING_REPLICA)];
  if (!nginx) return [];
  const { spread } = nginx.cost;
  const plain = { name: 'nginx', ratio: 1 / nginx.ratio, spread, ownSpread: subject.spread };
  if (!kept) return [plain];
  return [plain, { name: 'nginxKept', ratio: kept.ratio / nginx.ratio, spread, ownSpread: kept.cost.spread }];
}

/**
 * The cost of bare uWebSockets.js relative to nginx, if both ran. Budgets relative to nginx are for machines with a
 * ratio of 0.9 to 1.1. If copying costs far more than sending a file, no program on the library can come close.
 */
export function bareOfNginx({ peers }: PeerReport): number | undefined {
  const [bare, nginx] = [BARE, 'nginx'].map((name) => peers.find(({ peer }) => peer === name)?.ratio);
  return bare === undefined || nginx === undefined ? undefined : bare / nginx;
}

/** Beyond this ratio, budgets relative to nginx are not compared. */
export const BARE_OF_NGINX_MAX = 1.3;

function reportOf(question: PeerQuestion, names: readonly string[], costs: readonly Summary[]): PeerReport {
  const [subject, ...others] = costs;
  const peers = others.map((cost, i) => ({ peer: names[i]!, cost, ratio: cost.least / subject!.least }));
  return { question, subject: subject!, peers };
}

async function startPeers(
  stage: BenchStage,
  data: BenchDataSet,
  { cacheDirectory }: LoadBenchOptions,
  observer: LoadObserver,
): Promise<readonly Rival[]> {
  const installed = await installPeers(cacheDirectory);
  const rivals: Rival[] = [];
  for (const peer of PEERS) {
    observer.onStep(`starting ${peer.name}`);
    try {
      rivals.push({ peer, process: await stage.started(startPeer(installed, peer, data, cacheDirectory)) });
    } catch (error) {
      // A peer may not be installed, or be too small for the data.
      observer.onStep(`left out ${peer.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return rivals;
}

/** The cache of a peer is for one state of the data and of its program. */
async function startPeer(
  installed: PeerInstall,
  { program }: Peer,
  { directory }: BenchDataSet,
  cacheDirectory: string,
): Promise<ListeningProcess> {
  if (program === 'Django') return startDjangoPeer(directory, cacheDirectory);
  if ('missing' in installed) throw new Error(installed.missing);
  const { node, folder } = installed;
  const script = path.join(folder, program.script);
  const { mtimeMs } = await stat(path.join(directory, 'observations.ndjson'));
  const name = textHash(`${directory} ${mtimeMs} ${await readFile(script, 'utf8')}`);
  const database = path.join(cacheDirectory, 'peers', `${name}.sqlite`);
  return startListening(node, [...program.nodeFlags, script, directory, database, BENCH_BASE_URL], { env: {} });
}

interface Grid {
  readonly stage: BenchStage;
  readonly data: BenchDataSet;
  readonly server: ListeningProcess;
  readonly rivals: readonly Rival[];
  readonly choice: Choice;
  readonly options: LoadBenchOptions;
  readonly observer: LoadObserver;
}

interface Entered {
  readonly question: PeerQuestion;
  readonly race: Race;
  readonly names: readonly string[];
}

/** The replica and every peer that responds alike to a question. */
async function raceOf(grid: Grid, question: PeerQuestion): Promise<Entered> {
  const { server, choice, options } = grid;
  const asked = question.question(choice);
  const { exchanges } = await checkQuestions(server.port, [asked], choice.catalogue);
  const requests = Math.max(1, Math.round(question.requests * options.requestsPart));
  const loads: Load[] = [{ process: server, exchanges, requests }];
  const names: string[] = [];
  for (const rival of grid.rivals) {
    const load = await rivalLoad(grid, rival, question, asked);
    if (!load) continue;
    loads.push(load);
    names.push(rival.peer.name);
  }
  if (question.isStatic) {
    const control = await grid.stage.started(startControl(CONTROL_BYTES));
    const asFiles = {
      [KEEPING_REPLICA]: await keptLoad(grid, loads[0]!),
      nginx: await nginxLoad(grid, asked, requests),
      [BARE]: bareLoad(control, 'page', loads[0]!, ''),
    };
    for (const [name, load] of Object.entries(asFiles)) {
      if (!load) continue;
      loads.push(load);
      names.push(name);
    }
  }
  return { question, race: { name: question.name, loads }, names };
}

async function rivalLoad(
  { server, choice, options, observer }: Grid,
  { peer, process }: Rival,
  question: PeerQuestion,
  asked: ScenarioQuestion,
): Promise<Load | undefined> {
  const target = peer.targetOf(question.name, asked.target, choice);
  if (target === undefined) return undefined;
  const [ours, theirs] = [await ask(server.port, asked.target), await ask(process.port, target, HEADERS)];
  if (theirs.status !== asked.status || !isAlike(peer, ours.body, theirs.body)) {
    observer.onStep(`${peer.name} answers ${question.name} otherwise: not raced against it`);
    return undefined;
  }
  const exchange: Exchange = { target, headers: HEADERS, status: asked.status, bytes: theirs.body.length };
  const requests = Math.max(1, Math.round(question.peerRequests * peer.requestsPart * options.requestsPart));
  return { process, exchanges: [exchange], requests };
}

/** The base URL of links for a peer that takes it from requests. */
const HEADERS = { Host: new URL(BENCH_BASE_URL).host };

/** Whether a peer sends the same bytes or, without an envelope, the same records. */
function isAlike({ hasEnvelope }: Peer, ours: Buffer, theirs: Buffer): boolean {
  if (hasEnvelope) return ours.equals(theirs);
  try {
    deepStrictEqual(recordsIn(theirs), recordsIn(ours));
    return true;
  } catch {
    return false;
  }
}

/**
 * The records of a list with or without an envelope, or the record. Links have no `format`: Django adds it if the
 * request has it.
 */
function recordsIn(body: Buffer): unknown {
  const value = JSON.parse(body.toString().replaceAll('/?format=api"', '/"')) as { readonly results?: unknown };
  return value.results ?? value;
}

/** A second replica with its cache of responses, if there is memory for it: the equivalent of a file of nginx. */
async function keptLoad({ stage, data, observer }: Grid, load: Load): Promise<Load | undefined> {
  if (!hasRoomFor(data.snapshot)) {
    observer.onStep(`left out ${KEEPING_REPLICA}: there is no memory for a second server`);
    return undefined;
  }
  return { ...load, process: await stage.started(startServer(data.snapshot, { flags: KEEPING_ANSWERS })) };
}

/** nginx serving the same bytes as a file. */
async function nginxLoad(
  { stage, server, options, observer }: Grid,
  asked: ScenarioQuestion,
  requests: number,
): Promise<Load | undefined> {
  const folder = path.join(options.cacheDirectory, 'nginx');
  await mkdir(folder, { recursive: true });
  const { body } = await ask(server.port, asked.target);
  await writeFile(path.join(folder, 'page.json'), body);
  const started = await startNginx(folder);
  if ('missing' in started) {
    observer.onStep(`left out nginx: ${started.missing}`);
    return undefined;
  }
  const process = await stage.started(started);
  return { process, exchanges: [{ target: '/page.json', status: 200, bytes: body.length }], requests };
}
