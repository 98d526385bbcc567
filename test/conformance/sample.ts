// The embedded sample or a handmade data set, served over a real socket. Files in one worker share the server with the
// same flags, because its start and its document cost 4 s of CPU. Knows the API's envelope; every response is validated
// against the OpenAPI document of the server.
import { beforeAll, expect } from 'vitest';
import { epochMs } from '../../server/observe/clock.ts';
import { clientOf, type Client, type Received, type Sent } from '../support/client.ts';
import { runServer } from '../support/commandProcess.ts';
import { DocumentChecker, servedDocument } from '../support/documentChecker.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';

/** The base URL of the sample: links must start with it, independent of the address of the socket. */
export const BASE_URL = 'http://catalogue.test';

/** A JSON object as a client reads it. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The page envelope of spec 2.2. */
export interface Page {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly JsonObject[];
}

/** The served sample. Targets are paths with their query, as sent. */
export interface Sample {
  send(sent: Sent): Promise<Received>;
  get(target: string, headers?: Readonly<Record<string, string>>): Promise<Received>;
  /** The page at a target. Its response must be 200. */
  page(target: string): Promise<Page>;
  /** The record at a target. Its response must be 200. */
  record(target: string): Promise<JsonObject>;
  /** All records of a collection, requested once per file: each is compared with the document. */
  all(collection: string): Promise<readonly JsonObject[]>;
  url(): string;
  /** Milliseconds since 1970, before the server has started. */
  startMs(): number;
}

const START_MS_MAX = 60_000;

interface Served {
  readonly url: string;
  readonly startMs: number;
  readonly client: Client;
  readonly checker: DocumentChecker;
}

/** By data and flags. They stop with the worker (test/support/childProcesses.ts). */
const SERVED = new Map<string, Served>();

async function served(data: string, flags: readonly string[]): Promise<Served> {
  const startMs = epochMs();
  const { url } = await runServer(['--data', data, '--threads', '1', '--gzip', 'stored', ...flags]);
  const client = clientOf(url);
  return { url, startMs, client, checker: new DocumentChecker(await servedDocument(client.get)) };
}

/**
 * Serves the sample, or the data set of another directory, with further flags and in one thread. Tests must not change
 * the responses for other tests.
 */
export function servedSample(flags: readonly string[] = ['--base-url', BASE_URL], data?: string): Sample {
  let current: Served | undefined;
  beforeAll(async () => {
    const place = data ?? (await sampleSnapshot());
    const key = [place, ...flags].join(' ');
    current = SERVED.get(key) ?? (await served(place, flags));
    SERVED.set(key, current);
  }, START_MS_MAX);
  const now = (): Served => {
    if (!current) throw new Error('the sample is served only while tests run');
    return current;
  };
  const send = async (sent: Sent): Promise<Received> => {
    const received = await now().client.send(sent);
    expect(now().checker.check(sent, received)).toEqual([]);
    return received;
  };
  return { send, url: () => now().url, startMs: () => now().startMs, ...readers(send) };
}

/** The part of a link after the base URL: a target to send. Fails on a link that does not start with the base URL. */
export function targetOf(link: unknown): string {
  expect(link).toBeTypeOf('string');
  expect(String(link).startsWith(`${BASE_URL}/`), String(link)).toBe(true);
  return String(link).slice(BASE_URL.length);
}

function readers(send: Sample['send']): Pick<Sample, 'get' | 'page' | 'record' | 'all'> {
  const get: Sample['get'] = (target, headers = {}) => send({ target, headers });
  const json = async (target: string): Promise<unknown> => {
    const { status, body } = await get(target);
    expect(status, `${target}: ${body.slice(0, 200)}`).toBe(200);
    return JSON.parse(body);
  };
  const page: Sample['page'] = async (target) => (await json(target)) as Page;
  const record: Sample['record'] = async (target) => (await json(target)) as JsonObject;
  const known = new Map<string, Promise<Page>>();
  const all: Sample['all'] = async (collection) => {
    const whole = known.get(collection) ?? page(`/api/v3/${collection}/?limit=1000000`);
    known.set(collection, whole);
    return (await whole).results;
  };
  return { get, page, record, all };
}
