// The long tests, `npm run test:long`: files named *.long.test.ts, such as random catalogues and large data. First the
// tests of responses and files, a few at a time; then those that wait for timers; then, one at a time, those that
// measure ratios or fill memory. Files in NIGHTLY run only at night, and support/ring.ts shortens others. `RING=whole
// npm run test:long -- PATH` runs a file in full, also one of NIGHTLY.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { SkippedTests } from './support/debian.ts';
import { IS_WHOLE } from './support/ring.ts';
import { STRIPPED_ONCE } from './vitest.config.ts';

/** Tests that measure nothing, by folder and file. */
const JUDGING = [
  'test/{clients,conformance,contract,differential,documents,property,soapClients}/**/*.long.test.ts',
  // Clusters elect leaders by the clock.
  'test/unit/data/**/!(nats*).long.test.ts',
  'test/unit/server/{authority,catalogue,commands,observe,pages,process}/**/*.long.test.ts',
  'test/unit/{bench,engine,support,workers}/**/*.long.test.ts',
  'test/deploy/{files,image,refresh,snapshotFolder}.long.test.ts',
  // Excludes the hostile ring: the server rightly cuts readers that other processes delay for 10 s.
  'test/load/{certificates,drains,failedAllocations,package}.long.test.ts',
  'test/campaign/command.long.test.ts',
];

/** Tests of timeouts and of other programs' clocks: they must run on time, and use little CPU. */
const WAITING = [
  'test/deploy/{basePath,inFront,keepAlive,lostThreads,proxies,rawHttp,staleReplicas,systemd}.long.test.ts',
  'test/unit/data/**/nats*.long.test.ts',
  // A thread that gets no turn for 10 s counts as unresponsive, and five deaths within a minute end a server.
  'test/load/silentThreads.long.test.ts',
  'test/unit/server/process/lostThreads.long.test.ts',
];

/** Only in the nightly run. Each comment names the shorter test that CI runs instead. */
const NIGHTLY = [
  // Speed, for 60 to 300 s a file: load/bench has the hot paths, load/proxies the load through nginx.
  'test/load/{million,authority,soapPeers,threads,peers,route,budget}.long.test.ts',
  // Minutes of the hostile ring: property/fuzz has the short form, and a campaign has every kind of attack.
  'test/load/fuzz.long.test.ts',
  // Every bench once, small: load/bench and load/proxies run two of them in full, the others are nightly too.
  'test/unit/bench/smoke.long.test.ts',
  // Rare pages and states of the site: contract/browse has the usual ones.
  'test/contract/browseRare.long.test.ts',
  // Every field with every lookup: differential/everyLookup.test has a twelfth of them.
  'test/differential/everyLookup.long.test.ts',
  // Every misbehaviour of an upstream, at three pages: upstream/rudeUpstream.test has a ninth of them.
  'test/unit/data/upstream/rudeUpstream.long.test.ts',
  // Versions of Node without uWebSockets.js: contract/transport has both transports.
  'test/unit/server/process/withoutUws.long.test.ts',
  // The image: load/package installs the same package.
  'test/deploy/image.long.test.ts',
  // A fresh clone: .ci/run is in one, and documents/documents sends the requests of README.md.
  'test/documents/newcomer.long.test.ts',
  // The time to replace a lost thread: server/process/lostThreads checks that it is replaced.
  'test/load/lostThreads.long.test.ts',
  // Parquet files of several row groups: contract/parquetReaders reads files of one.
  'test/unit/engine/page/parquetGroups.long.test.ts',
  // Every misbehaviour, seen by a server that follows: process/follower has the usual failures.
  'test/unit/server/process/rudeFollowed.long.test.ts',
  // Our own server as the upstream of a crawl: documents/commands crawls one too.
  'test/unit/data/upstream/ownUpstream.long.test.ts',
  // Clocks that jump by a day: test/tidy.test.ts names the few files that may read a clock.
  'test/unit/data/upstream/movedClock.long.test.ts',
  // Kills at random moments: upstream/kills, upstream/followKills and distribution/kills have the steps.
  'test/unit/data/randomKills.long.test.ts',
  // Other generators of clients: clients/openApiFetch has one.
  'test/clients/{heyApi,orval}.long.test.ts',
  // A probe of a Django service: contract/probe has every finding, deploy/inFront probes Django too.
  'test/contract/probeDjango.long.test.ts',
  // The cost of hostile texts in a dictionary: differential/differential checks its order.
  'test/unit/engine/column/sort.long.test.ts',
];
const SKIPPED = IS_WHOLE ? [] : NIGHTLY;

/** Long files start first, in this order, so that no core idles at the end. */
const LONGEST = [
  'contract/browse',
  'load/package',
  'differential/differential',
  'differential/everyLookup',
  'documents/commands',
  'data/randomKills',
  'upstream/followDjango',
  'upstream/kills',
  'contract/mirror',
  'contract/compareDjango',
  'process/follower',
  'contract/parquet',
  'contract/browseRare',
  'process/subscription',
  'upstream/refresh',
  'process/serveBlocks',
  'load/drains',
  'upstream/rudeUpstream',
  'bench/smoke',
  'documents/newcomer',
  'distribution/kills',
  'upstream/followKills',
  'data/verifyDeep',
  'property/forgedSnapshots',
  'soapClients/soapClients',
  'load/certificates',
  'load/failedAllocations',
  'deploy/proxies',
  'deploy/systemd',
  'process/lostThreads',
  'natsTarget',
  'natsCluster',
];

/** For every process and thread of tests that do not measure speed. */
const STRIPPED = { execArgv: [STRIPPED_ONCE], env: { NODE_OPTIONS: STRIPPED_ONCE } };

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number =>
      (LONGEST.findIndex((name) => moduleId.includes(`/${name}.`)) + LONGEST.length + 1) % (LONGEST.length + 1);
    return (await super.sort(files)).toSorted((one, two) => placeOf(one) - placeOf(two));
  }
}

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    allowOnly: false,
    passWithNoTests: true,
    globalSetup: fileURLToPath(new URL('./support/runDirectory.ts', import.meta.url)),
    setupFiles: fileURLToPath(new URL('./support/seedsOfFailures.ts', import.meta.url)),
    // As in vitest.config.ts.
    env: { NODE_EXTRA_CA_CERTS: '', no_proxy: '*', CATALOGUE_DRAIN_GRACE_SECONDS: '0' },
    reporters: ['default', 'json', new SkippedTests()],
    chaiConfig: { truncateThreshold: 0 },
    outputFile: { json: 'node_modules/.cache/catalogue-replica/long.json' },
    sequence: { sequencer: LongestFirst },
    // 300 kills, or every step, on a busy machine.
    testTimeout: IS_WHOLE ? 5_400_000 : 1_200_000,
    // Whole benches run in hooks: 250 s on a quiet machine, plus repetitions of races that seem lost.
    hookTimeout: 1_500_000,
    projects: [
      {
        extends: true,
        // One more than cores, because many wait for servers.
        test: {
          name: 'judging',
          include: JUDGING,
          exclude: [...SKIPPED, ...WAITING],
          maxWorkers: availableParallelism() + 1,
          ...STRIPPED,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'waiting', include: WAITING, maxWorkers: 3, ...STRIPPED, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: {
          name: 'measuring',
          include: ['test/**/*.long.test.ts'],
          exclude: [...JUDGING, ...WAITING, ...SKIPPED],
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
