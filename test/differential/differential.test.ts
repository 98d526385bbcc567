// The differential ring: the server and the naive oracle answer the same random requests on the same random catalogues,
// over both transports, with the same status, headers and body bytes. A failure prints its seed and a smallest request.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { clientOf, type Client } from '../support/client.ts';
import { randomOf, type Random } from '../support/random.ts';
import { startServer } from '../support/server.ts';
import { randomCatalogue, writeCatalogue } from './catalogues.ts';
import { curlOf, differencesOf, shrink } from './compare.ts';
import { dataSetOf, type DataSet } from './dataset.ts';
import { oracle, type OracleRequest, type OracleSettings } from './oracle.ts';
import { randomRequest } from './requests.ts';

/** One seed is one catalogue, one set of settings and one run of requests. The first has the default settings. */
const SEEDS: readonly number[] = [1, 2, 3, 4, 5, 6];
const REQUESTS_PER_SEED = 800;
/** Requests in flight at once: enough that answers could mix, few enough for two cores. */
const IN_FLIGHT = 8;
const SEED_MS_MAX = 120_000;

describe('the server agrees with the naive oracle', () => {
  test.each(SEEDS)('on the random catalogue and the random requests of seed %i', compareOnSeed, SEED_MS_MAX);
});

async function compareOnSeed(seed: number): Promise<void> {
  const random = randomOf(seed);
  const settings = randomSettings(random, seed === SEEDS[0]);
  const catalogue = randomCatalogue(random);
  const directory = mkdtempSync(join(tmpdir(), 'differential-'));
  writeCatalogue(catalogue, directory);
  const server = await startServer({ data: directory, flags: flagsOf(settings) });
  const urls = [server.url, server.http10Url ?? server.url];
  const sides = urls.map((url) => sideOf(url, dataSetOf(catalogue), settings));
  try {
    await run(random, sides, `seed ${seed}, ${flagsOf(settings).join(' ')}`);
  } finally {
    for (const side of sides) side.client.close();
    await server.stop();
    rmSync(directory, { recursive: true });
  }
}

interface Side {
  readonly url: string;
  readonly client: Client;
  readonly dataSet: DataSet;
  differences(request: OracleRequest): Promise<string[]>;
}

function sideOf(url: string, dataSet: DataSet, settings: OracleSettings): Side {
  const client = clientOf(url);
  const differences = async (request: OracleRequest): Promise<string[]> =>
    differencesOf(oracle(dataSet, settings, request), await client.send(request));
  return { url, client, dataSet, differences };
}

async function run(random: Random, sides: readonly Side[], origin: string): Promise<void> {
  const transports = ['uWebSockets.js', 'node:http'];
  for (let done = 0; done < REQUESTS_PER_SEED; done += IN_FLIGHT) {
    const sideAt = (i: number): Side => sides[i % sides.length] as Side;
    const requests = Array.from({ length: IN_FLIGHT }, (_, i) => randomRequest(random, sideAt(i).dataSet));
    const found = await Promise.all(requests.map((request, i) => sideAt(i).differences(request)));
    const wrong = found.findIndex((differences) => differences.length > 0);
    if (wrong >= 0)
      expect.fail(await report(sideAt(wrong), requests[wrong] as OracleRequest, origin, transports[wrong % 2]));
  }
}

async function report(side: Side, request: OracleRequest, origin: string, transport = ''): Promise<string> {
  const smallest = await shrink(request, async (smaller) => (await side.differences(smaller)).length > 0);
  const differences = await side.differences(smallest);
  return [`${origin} (${transport})`, curlOf(side.url, smallest), ...differences.map((line) => `  ${line}`)].join('\n');
}

function randomSettings(random: Random, isDefault: boolean): OracleSettings {
  const settings: OracleSettings = {
    baseUrl: random.pick(['http://catalogue.test', 'https://archive.test:8443/replica']),
    links: random.pick(['spec', 'request']),
    limitMax: random.pick([undefined, 7, 50, 1000]),
    strict: random.chance(0.3),
    filterErrors: random.pick(['fail', 'empty', 'ignore']),
    filters: random.pick(['all', 'all', 'documented']),
  };
  if (!isDefault) return settings;
  return { ...settings, links: 'spec', limitMax: undefined, strict: false, filterErrors: 'fail', filters: 'all' };
}

function flagsOf(settings: OracleSettings): string[] {
  const flags = ['--base-url', settings.baseUrl, '--links', settings.links, '--filters', settings.filters];
  flags.push('--filter-errors', settings.filterErrors);
  if (settings.limitMax !== undefined) flags.push('--limit-max', String(settings.limitMax));
  if (settings.strict) flags.push('--strict');
  return flags;
}
