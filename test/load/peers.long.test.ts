// Compares the replica with Fastify on SQLite at 100,000 observations: the targeted advantage, as ratios. Compares its
// import with imports into SQLite and DuckDB. Skipped with a message if the peers are unavailable or respond
// differently.
import { beforeAll, describe, expect, test } from 'vitest';
import { BUDGETS, guardedOf, noiseText, placeOfBudget } from '../../bench/budgets.ts';
import { CACHE_DIRECTORY } from '../../bench/load/dataSet.ts';
import {
  BARE_OF_NGINX_MAX,
  bareOfNginx,
  besideNginx,
  runPeerBench,
  type PeerReport,
} from '../../bench/peers/peerBench.ts';
import { PEER_QUESTIONS } from '../../bench/peers/peers.ts';
import { IMPORT_PEERS, importRatios, runImportRace, type ImportRaceReport } from '../../bench/peers/importRace.ts';
import { importTable, peerTable } from '../../bench/report/report.ts';
import { tableText } from '../../server/commands/terminal.ts';

const OPTIONS = {
  observations: 100_000,
  seed: 1,
  cacheDirectory: CACHE_DIRECTORY,
  rounds: 7,
  only: [],
  place: 'ci' as const,
  requestsPart: 0.25,
  warmUp: 8,
  floorBytes: 1 << 20,
};

let reports: readonly PeerReport[] = [];

/** Peers that were not measured are logged. */
const onStep = (line: string): void => void (/^left out|otherwise/.test(line) && process.stderr.write(`${line}\n`));

beforeAll(async () => {
  reports = await runPeerBench(OPTIONS, { onProgress: () => {}, onStep });
  process.stderr.write(`${tableText(peerTable(reports))}\n`);
});

test('measures every query', () => {
  expect(reports.map(({ question }) => question)).toEqual(PEER_QUESTIONS);
});

test.for(PEER_QUESTIONS.map(({ name, pass }) => [name, pass] as const))(
  '%s: costs Fastify with SQLite at least %d times the CPU of the replica',
  ([name, pass], { skip }) => {
    const { subject, peers } = reports.find(({ question }) => question.name === name)!;
    const fastify = peers.find(({ peer }) => peer === 'Fastify + SQLite');
    skip(fastify === undefined, 'not raced: see above');
    skip(subject.spread > BUDGETS.spreadMax, 'not judged: the replica itself spread too much');
    expect(fastify!.ratio).toBeGreaterThanOrEqual(pass / (1 + BUDGETS.tolerance.ci));
  },
);

test.for(['nginx', 'nginxKept'])(
  'serves a page for hardly more CPU than nginx needs for a file with the same bytes (%s)',
  (name, { skip }) => {
    const raced = reports.find((report) => besideNginx(report).length > 0);
    const measured = raced && besideNginx(raced).find((one) => one.name === name);
    skip(measured === undefined, 'not raced: see above');
    const bare = bareOfNginx(raced!)!;
    skip(bare > BARE_OF_NGINX_MAX, `not judged: bare uWebSockets.js alone needs ${bare.toFixed(2)} times nginx here`);
    const guarded = guardedOf(measured!, 'ci');
    skip(guarded === 'too noisy', `not judged: ${noiseText(measured!)}`);
    expect(guarded, `${measured!.ratio.toFixed(2)} times nginx is beyond ${placeOfBudget('ratios', name)}`).toBe(
      'held',
    );
  },
);

describe('an import', () => {
  let report: ImportRaceReport;
  beforeAll(async () => {
    // Over two rounds, each competitor has one in which another ran first.
    report = await runImportRace({ ...OPTIONS, rounds: 3 }, { onProgress: () => {}, onStep });
    process.stderr.write(`${tableText(importTable(report))}\n`);
  });

  test.for(IMPORT_PEERS.map(({ name, budget }) => [name, budget] as const))(
    'keeps its budget compared with %s',
    ([, budget], { skip }) => {
      const measured = importRatios(report).find(({ name }) => name === budget);
      skip(measured === undefined, 'not raced: see above');
      const guarded = guardedOf(measured!, 'ci');
      skip(guarded === 'too noisy', `not judged: ${noiseText(measured!)}`);
      expect(guarded, `${measured!.ratio.toFixed(2)} is beyond ${placeOfBudget('ratios', budget)}`).toBe('held');
    },
  );
});
