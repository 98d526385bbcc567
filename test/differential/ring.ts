// One round of the differential ring: a server and the naive oracle answer the same random requests over both
// transports, with the same status, headers and body bytes. A failure prints its seed and at most ten minimal requests.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { VARIANTS } from '../../engine/snapshot/sections.ts';
import { type Server, runServer } from '../support/commandProcess.ts';
import { imported } from '../support/dataSets.ts';
import { type Client, clientOf } from '../support/client.ts';
import { type Random, randomOf } from '../support/random.ts';
import { SAMPLE, sampleSnapshot } from '../support/sampleSnapshot.ts';
import { randomCatalogue, writeCatalogue } from './catalogues.ts';
import { curlOf, differencesOf, shrink } from './compare.ts';
import { type Disagreement, DisagreementReport, PRINTED_MAX } from './disagreements.ts';
import { type DataSet, dataSetIn, dataSetOf } from './dataset.ts';
import { oracle, type OracleRequest, type OracleSettings } from './oracle.ts';
import { randomRequest } from './requests.ts';
import { revalidationDifferences, type TagsMet } from './revalidation.ts';

/** The seed whose catalogue is served with the default settings; other seeds draw theirs. */
const DEFAULT_SETTINGS_SEED = 1;
const SAMPLE_SEED = 7;
/** Scans of all abstracts, which contain too much text for a serving thread. */
const HEAVY: readonly string[] = [
  '=wind',
  '!=wind',
  '=the&limit=3',
  '=e&title__contains=a&offset=5',
  '=',
  '=%C3%A9',
  '=e&ordering=-status,title&offset=20&facets=status,projects,result_field__storageStatus',
  '=a&after=100&facets=language',
];
/** Concurrent requests: enough that responses could be mixed up, few enough for two cores. */
const IN_FLIGHT = 8;
/** Filtered walks on each catalogue, and the minimum of random requests for each page of a walk. */
const WALKS = 12;
const REQUESTS_A_PAGE = 40;
/** Maximum of failed requests that are reduced: often many lead to the same minimal one. */
const SHRUNK_MAX = 40;
/** A seed that takes longer than this hangs. */
export const SEED_MS_MAX = 600_000;

/** Compares on one random catalogue: a seed is one catalogue, one set of settings and one run of requests. */
export async function compareOnSeed(seed: number, requests: number): Promise<void> {
  const random = randomOf(seed);
  const settings = randomSettings(random, seed === DEFAULT_SETTINGS_SEED);
  const catalogue = randomCatalogue(random);
  const directory = mkdtempSync(join(tmpdir(), 'differential-'));
  try {
    writeCatalogue(catalogue, directory);
    const data = seed % 3 === 0 ? await withoutVariants(directory) : directory;
    await compare(random, {
      directory: data,
      dataSet: dataSetOf(catalogue),
      settings,
      origin: `seed ${seed}`,
      requests,
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/**
 * A snapshot of a directory without the optional index variants. It is created in the directory and removed with it.
 */
async function withoutVariants(directory: string): Promise<string> {
  const { file } = await imported(directory, { file: join(directory, 'bare.snapshot'), without: VARIANTS.join() });
  return file;
}

/** Compares on the embedded sample with the default settings, heavy scans in the pool first. */
export async function compareOnSample(requests: number): Promise<void> {
  const random = randomOf(SAMPLE_SEED);
  const settings = randomSettings(random, true);
  const origin = `the sample, seed ${SAMPLE_SEED}`;
  const targets = HEAVY.map((rest) => `/api/v3/observations/?abstract__contains${rest}`);
  const first = targets.map((target): OracleRequest => ({ method: 'GET', target, headers: {} }));
  const directory = await sampleSnapshot();
  await compare(random, { directory, dataSet: dataSetIn(SAMPLE), settings, origin, first, requests });
}

/**
 * Requests the pages of filtered walks in random order, so that most find the rows of their filter cached or in
 * progress.
 */
async function walk(random: Random, asking: Asking, ground: Ground): Promise<void> {
  const { dataSet, first = [] } = ground;
  const starts = [...first, ...Array.from({ length: WALKS }, () => randomRequest(random, dataSet))];
  for (const start of starts) {
    const query = start.target.replace(/([?&])limit=[^&]*/g, '$1');
    const target = `${query}${query.includes('?') ? '&' : '?'}limit=${random.integer(1, 30)}`;
    const pages = pagesFrom({ ...start, target }, ground);
    for (const some of inParts(random.shuffled(pages), IN_FLIGHT)) await ask(asking, some);
  }
}

/**
 * The requests of a walk that follows `next` from a list's page, as the oracle has it; empty if the request is not for
 * a list.
 */
function pagesFrom(start: OracleRequest, { dataSet, settings, requests }: Ground): readonly OracleRequest[] {
  const pages: OracleRequest[] = [];
  for (let request: OracleRequest | undefined = start; request && pages.length < requests / REQUESTS_A_PAGE;) {
    const { status, body = '' } = oracle(dataSet, settings, request);
    if (status !== 200 || !body.startsWith('{"count":')) break;
    pages.push(request);
    const { next } = JSON.parse(body) as { readonly next: string | null };
    request = next === null ? undefined : { ...start, target: next.slice(settings.baseUrl.length) };
  }
  return pages;
}

function inParts<T>(list: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
}

/**
 * The basis of a comparison: a directory, what the oracle read from it, its origin, and requests before the random
 * ones.
 */
interface Ground {
  readonly directory: string;
  readonly dataSet: DataSet;
  readonly settings: OracleSettings;
  readonly origin: string;
  readonly requests: number;
  readonly first?: readonly OracleRequest[];
}

async function compare(random: Random, ground: Ground): Promise<void> {
  const { directory, origin } = ground;
  const flags = ['--gzip', 'stored', ...flagsOf(ground.settings)];
  const server = await runServer(['--data', directory, ...flags]);
  const met: TagsMet = new Map();
  const served = { ...ground, settings: settingsOf(ground.settings, server) };
  const sides = [sideOf('uWebSockets.js', server.url, served, met), sideOf('node:http', server.http10Url, served, met)];
  const asking: Asking = { sides, asked: 0, wrong: [] };
  const named = `${origin}, ${flags.join(' ')}`;
  try {
    await askAll(random, asking, served).catch((error: unknown) => {
      throw new Error(`${named}: broke off behind ${asking.asked} requests: ${String(error)}`, { cause: error });
    });
    if (asking.wrong.length > 0) expect.fail(await reportOf(asking, named));
  } finally {
    for (const side of sides) side.client.close();
    await server.stop();
  }
}

async function askAll(random: Random, asking: Asking, ground: Ground): Promise<void> {
  const { dataSet, requests, first = [] } = ground;
  for (let i = 0; i < asking.sides.length; i++) {
    await ask(asking, first);
    asking.sides.push(asking.sides.shift()!);
  }
  await walk(random, asking, ground);
  for (let done = 0; done < requests; done += IN_FLIGHT) {
    const some = Array.from({ length: IN_FLIGHT }, () => randomRequest(random, dataSet));
    await ask(asking, some);
  }
}

/** The settings with the generation that the server reports; links name it if walks are pinned. */
function settingsOf(settings: OracleSettings, server: Server): OracleSettings {
  const served = /generation ([0-9a-f]+)/.exec(server.out())?.[1];
  return { ...settings, served, generation: settings.generation && served };
}

interface Side {
  readonly url: string;
  readonly client: Client;
  readonly transport: string;
  differences(request: OracleRequest): Promise<string[]>;
}

/** One response in this many is requested again under conditions, so that most requests stay new. */
const REVALIDATED_EVERY = 4;

function sideOf(transport: string, url: string, { dataSet, settings }: Ground, met: TagsMet): Side {
  const client = clientOf(url);
  let asked = 0;
  const differences = async (request: OracleRequest): Promise<string[]> => {
    const received = await client.send(request);
    const found = differencesOf(oracle(dataSet, settings, request), received);
    const isChosen = received.status !== 200 || asked++ % REVALIDATED_EVERY === 0;
    return isChosen ? [...found, ...(await revalidationDifferences(client, request, received, met))] : found;
  };
  return { transport, url, client, differences };
}

/** The servers, the number of requests, and the requests with differing responses. */
interface Asking {
  readonly sides: Side[];
  readonly wrong: { readonly side: Side; readonly request: OracleRequest; readonly lines: readonly string[] }[];
  asked: number;
}

/** Sends all requests at once, alternating between the sides, and records the ones with differing responses. */
async function ask(asking: Asking, requests: readonly OracleRequest[]): Promise<void> {
  const sideAt = (i: number): Side => asking.sides[i % asking.sides.length] as Side;
  const found = await Promise.all(requests.map((request, i) => sideAt(i).differences(request)));
  asking.asked += requests.length;
  requests.forEach((request, i) => {
    if (found[i]!.length > 0) asking.wrong.push({ side: sideAt(i), request, lines: found[i]! });
  });
}

/**
 * The distinct minimal requests that still differ, made from the first ones that did. Of those that do not differ
 * again, the first differences.
 */
async function reportOf({ wrong, asked }: Asking, origin: string): Promise<string> {
  const smallest = new Map<string, Disagreement>();
  for (const { side, request, lines: first } of wrong.slice(0, SHRUNK_MAX)) {
    const smaller = await shrink(request, async (one) => (await side.differences(one)).length > 0);
    const text = curlOf(side.url, smaller);
    const again = await side.differences(smaller);
    const lines = again.length > 0 ? again : ['does not differ again; the first time:', ...first];
    if (!smallest.has(text)) smallest.set(text, { request: text, lines });
    if (smallest.size === PRINTED_MAX) break;
  }
  return new DisagreementReport().text(origin, [...smallest.values()], { total: wrong.length, asked });
}

function randomSettings(random: Random, isDefault: boolean): OracleSettings {
  const settings: OracleSettings = {
    baseUrl: random.pick(['http://catalogue.test', 'https://archive.test:8443/replica']),
    links: random.pick(['spec', 'request']),
    limitMax: random.pick([undefined, 7, 50, 1000]),
    strict: random.chance(0.3),
    filterErrors: random.pick(['fail', 'empty', 'ignore']),
    filters: random.pick(['all', 'all', 'documented']),
    generation: random.pick([undefined, 'to be asked']),
  };
  if (!isDefault) return settings;
  const { baseUrl } = settings;
  return { baseUrl, links: 'spec', limitMax: undefined, strict: false, filterErrors: 'fail', filters: 'all' };
}

function flagsOf(settings: OracleSettings): string[] {
  const flags = ['--base-url', settings.baseUrl, '--links', settings.links, '--filters', settings.filters];
  flags.push('--filter-errors', settings.filterErrors);
  if (settings.limitMax !== undefined) flags.push('--limit-max', String(settings.limitMax));
  if (settings.strict) flags.push('--strict');
  if (settings.generation !== undefined) flags.push('--pin-walks');
  return flags;
}
