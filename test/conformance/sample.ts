// The embedded sample or a data set made by hand, served over a real socket for the tests of one file. Knows the API's
// envelope; every answer is judged by the OpenAPI document that the server gives.
import { afterAll, beforeAll, expect } from 'vitest';
import { clientOf, type Client, type Received, type Sent } from '../support/client.ts';
import { DocumentChecker, servedDocument } from '../support/documentChecker.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';
import { startServer, type RunningServer } from '../support/server.ts';

/** The base URL that the sample is served with: links must start with it, whatever the address of the socket is. */
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
  /** The page at a target, which must be answered with 200. */
  page(target: string): Promise<Page>;
  /** The record at a target, which must be answered with 200. */
  record(target: string): Promise<JsonObject>;
  /** All records of a collection. */
  all(collection: string): Promise<readonly JsonObject[]>;
  url(): string;
}

const START_MS_MAX = 60_000;

/**
 * Serves the sample, or the data set of another directory, for the tests of the calling file, with further flags and in
 * one thread.
 */
export function servedSample(flags: readonly string[] = ['--base-url', BASE_URL], data?: string): Sample {
  let server: RunningServer | undefined;
  let client: Client | undefined;
  let checker: DocumentChecker | undefined;
  beforeAll(async () => {
    server = await startServer({
      data: data ?? (await sampleSnapshot()),
      flags: ['--threads', '1', '--gzip', 'stored', ...flags],
    });
    client = clientOf(server.url);
    const { get } = client;
    checker = new DocumentChecker(await servedDocument(get));
  }, START_MS_MAX);
  afterAll(async () => {
    client?.close();
    await server?.stop();
  }, START_MS_MAX);
  const send = async (sent: Sent): Promise<Received> => {
    if (!client || !checker) throw new Error('the sample is served only while tests run');
    const received = await client.send(sent);
    expect(checker.check(sent, received)).toEqual([]);
    return received;
  };
  const url = (): string => server?.url ?? '';
  return { send, url, ...readers(send) };
}

/** The part of a link behind the base URL: a target to send. Fails on a link that does not start with the base URL. */
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
  const all: Sample['all'] = async (collection) => (await page(`/api/v3/${collection}/?limit=1000000`)).results;
  return { get, page, record, all };
}
