// The world of a campaign: a server process with data made from a seed, the oracle with the same records, and the
// watching client. Independent of the strains.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importDirectory } from '../../data/import/import.ts';
import { generate } from '../../data/synth/generate.ts';
import { DEMONSTRATION_FILES, prepareDemonstration } from '../../server/authority/demonstration.ts';
import { epochSeconds } from '../../server/observe/clock.ts';
import { randomCatalogue, writeCatalogue } from '../differential/catalogues.ts';
import { differencesOf, curlOf } from '../differential/compare.ts';
import { dataSetOf, type DataSet } from '../differential/dataset.ts';
import { oracle, type OracleRequest, type OracleSettings } from '../differential/oracle.ts';
import { revalidationDifferences } from '../differential/revalidation.ts';
import { clientOf, type Client } from '../support/client.ts';
import { runServer } from '../support/commandProcess.ts';
import type { Victim } from '../support/fuzz.ts';
import { randomOf } from '../support/random.ts';
import { type Watcher, watcherOf } from './watcher.ts';

const BASE_URL = 'http://catalogue.test';

/**
 * Selects the data: `observations` asks for a generated data set, which no oracle holds; without it, a random
 * catalogue.
 */
export interface WorldOptions {
  readonly seed: number;
  readonly observations: number;
}

/**
 * A running world. `snapshot` is the served file, which a strain may replace for a while. `dataSet` is undefined if it
 * is too large for the oracle. `verify` sends a request to both transports and returns what is wrong.
 */
export interface World {
  readonly server: Victim;
  readonly admin: Client;
  readonly watcher: Watcher;
  readonly directory: string;
  readonly snapshot: string;
  readonly flags: readonly string[];
  readonly dataSet: DataSet | undefined;
  verify(request: OracleRequest, to?: Victim): Promise<readonly string[]>;
  close(): Promise<void>;
}

const SETTINGS: OracleSettings = {
  baseUrl: BASE_URL,
  links: 'spec',
  limitMax: undefined,
  strict: false,
  filterErrors: 'fail',
  filters: 'all',
};

/** Makes the data of a seed, serves it and starts to watch. Takes a few seconds; for 100,000 observations, minutes. */
export async function worldOf({ seed, observations }: WorldOptions): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), 'campaign-'));
  const source = join(directory, 'source');
  const snapshot = join(directory, 'served.snapshot');
  mkdirSync(source);
  const dataSet = observations > 0 ? undefined : randomDataSet(seed, source);
  if (!dataSet) await generate({ directory: source, observations, seed }, () => undefined);
  await importDirectory(
    { directory: source, file: snapshot, created: undefined, isLenient: false, threads: dataSet ? 0 : 2 },
    () => undefined,
  );
  const flags = ['--base-url', BASE_URL, '--threads', '2'];
  const authority = join(
    prepareDemonstration(join(directory, 'authority'), epochSeconds()),
    DEMONSTRATION_FILES.config,
  );
  const own = ['--admin-port', '0', '--authority', authority];
  const server = await runServer(['--data', snapshot, ...own, ...flags]);
  const [, origin] = await server.printed(/admin on (http:\/\/127\.0\.0\.1:\d+)\/status\n/);
  const admin = clientOf(origin!, false);
  const watcher = watcherOf([server.port, server.http10Port]);
  return {
    server,
    admin,
    watcher,
    directory,
    snapshot,
    flags,
    dataSet,
    verify: (request, to = server) => (dataSet ? verified(dataSet, request, to) : Promise.resolve([])),
    close: async () => {
      await watcher.close();
      admin.close();
      await server.kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function randomDataSet(seed: number, directory: string): DataSet {
  const catalogue = randomCatalogue(randomOf(seed));
  writeCatalogue(catalogue, directory);
  return dataSetOf(catalogue);
}

/**
 * Compares both transports with the oracle: status, headers and every byte of the body. Repeats the request, also by
 * tag and compressed, and expects the same.
 */
async function verified(dataSet: DataSet, request: OracleRequest, to: Victim): Promise<readonly string[]> {
  const expected = oracle(dataSet, SETTINGS, request);
  const found = await Promise.all(
    [to.port, to.http10Port].map(async (port) => {
      const url = `http://127.0.0.1:${port}`;
      const client = clientOf(url);
      try {
        const received = await client.send(request);
        const lengths = bodyLengthFault(request, received.headers['content-length'], received.bytes.length);
        const again = await revalidationDifferences(client, request, received, new Map());
        const differences = [...differencesOf(expected, received), ...lengths, ...again];
        return differences.length === 0 ? [] : [`${curlOf(url, request)}: ${differences.join('; ')}`];
      } catch (error) {
        return [`${curlOf(url, request)}: ${String(error)}`];
      } finally {
        client.close();
      }
    }),
  );
  return found.flat();
}

function bodyLengthFault({ method }: OracleRequest, length: string | undefined, bytes: number): readonly string[] {
  if (method === 'HEAD' || length === undefined || Number(length) === bytes) return [];
  return [`${bytes} bytes under a Content-Length of ${length}`];
}
