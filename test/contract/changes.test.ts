// The changes since a generation, over both listeners of a real server whose snapshot is next to a change log.
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHANGES_FILE } from '../../data/changeFeed.ts';
import { appendGeneration } from '../../data/upstream/changeLog.ts';
import { type Client, clientOf, type Received } from '../support/client.ts';
import { runServer, type Server } from '../support/commandProcess.ts';
import { dataSetOf, imported, ndjsonOf, temporaryDirectory } from '../support/dataSets.ts';
import { DocumentChecker, servedDocument } from '../support/documentChecker.ts';

const TARGET = '/api/v3/changes/';
/** Longer together than a piece of the body. */
const MANY = 10_000;
const DIGEST = new Uint8Array(16);
const FIRST = 'a'.repeat(64);
const SECOND = 'b'.repeat(64);

const directory = temporaryDirectory();
let server: Server;
let clients: readonly Client[];
let checker: DocumentChecker;
let generation: string;

/** A snapshot of three notes in a new folder, and its generation. */
async function snapshot(): Promise<{ readonly file: string; readonly generation: string }> {
  const data = dataSetOf(directory, { 'notes.ndjson': ndjsonOf({ ob_id: 1 }, { ob_id: 2 }, { ob_id: 3 }) });
  const { file, report } = await imported(data, { file: join(data, 'catalogue.snapshot') });
  return { file, generation: report.generation };
}

beforeAll(async () => {
  const made = await snapshot();
  ({ generation } = made);
  const log = join(dirname(made.file), CHANGES_FILE);
  const many = Array.from({ length: MANY }, (_, id) => ({ collection: 'notes', id, before: null, after: DIGEST }));
  appendGeneration(log, { generation: FIRST, at: 1_700_000_000, isBase: true, changes: [] });
  appendGeneration(log, { generation: SECOND, at: 1_700_000_060, isBase: false, changes: many });
  const last = [
    { collection: 'notes', id: 1, before: DIGEST, after: DIGEST.with(0, 1) },
    { collection: 'notes', id: 4, before: DIGEST, after: null },
  ];
  appendGeneration(log, { generation, at: 1_700_000_120.5, isBase: false, changes: last });
  appendGeneration(log, { generation: 'c'.repeat(64), at: 1_700_000_180, isBase: false, changes: last });
  server = await runServer(['--data', made.file, '--threads', '1', '--gzip', 'live', '--admin-port', '0']);
  clients = [server.url, server.http10Url].map((url) => clientOf(url));
  checker = new DocumentChecker(await servedDocument(clients[0]!.get));
});
afterAll(async () => {
  for (const client of clients) client.close();
  await server.kill();
});

/** The response to a target over both listeners, which must be the same and what the OpenAPI document says. */
async function got(target: string, headers: Readonly<Record<string, string>> = {}): Promise<Received> {
  const received = await Promise.all(clients.map((client) => client.send({ target, headers })));
  const [one, other] = received.map(({ status, bytes, headers: { etag, 'content-type': type } }) => {
    return { status, etag, type, sha256: createHash('sha256').update(bytes).digest('hex') };
  });
  expect(other).toEqual(one);
  expect(checker.check({ target }, received[0]!)).toEqual([]);
  return received[0]!;
}

function linesOf(body: string): readonly unknown[] {
  expect(body.endsWith('\n')).toBe(true);
  return body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

test('lists what changed, and last the generation to ask from next, which is that of lists', async () => {
  const { status, headers, body } = await got(`${TARGET}?since=${SECOND.slice(0, 12)}`);
  expect(status).toBe(200);
  const next = generation.slice(0, 12);
  const of = { time: '2023-11-14T22:15:20.500Z', generation: next, collection: 'notes' };
  const changes = [
    { ...of, id: 1, change: 'changed' },
    { ...of, id: 4, change: 'deleted' },
  ];
  expect(linesOf(body)).toEqual([...changes, { next }]);
  expect(headers).toMatchObject({ 'content-type': 'application/x-ndjson', 'x-generation': next });
  expect(headers['access-control-expose-headers']).toContain('X-Generation');
  for (const target of ['/api/v3/notes/', '/api/v3/notes.csv', '/api/v3/notes/1/'])
    expect((await clients[0]!.get(target)).headers['x-generation'], target).toBe(next);
  expect(linesOf((await got(`${TARGET}?since=${next}`)).body)).toEqual([{ next }]);
  expect(linesOf((await got(`${TARGET}?since=${generation}`)).body)).toEqual([{ next }]);
});

test('lists all that a log has, the oldest first', async () => {
  const { body } = await got(`${TARGET}?since=${FIRST}`);
  const changes = linesOf(body).slice(0, -1) as readonly { readonly id: number; readonly generation: string }[];
  expect(changes.map(({ id }) => id)).toEqual([...Array.from({ length: MANY }, (_, id) => id), 1, 4]);
  expect(changes[0]).toMatchObject({ generation: SECOND.slice(0, 12), change: 'created' });
});

describe.each([
  ['', 'Enter a generation'],
  ['?since=', 'Enter a generation'],
  ['?since=abcdef', 'Enter a generation'],
  ['?since=2026-01-31', 'Enter a generation'],
  [`?since=${'A'.repeat(64)}`, 'Enter a generation'],
  [`?since=${FIRST}0`, 'Enter a generation'],
  [`?since=${FIRST}&since=x`, 'Enter a generation'],
])('%s', (query, message) => {
  test('is a wrong generation', async () => {
    const { status, body } = await got(TARGET + query);
    expect([status, JSON.parse(body)]).toEqual([400, { since: [expect.stringContaining(message)] }]);
  });
});

test('refuses unknown names only if the request is strict', async () => {
  const since = `since=${generation}`;
  expect((await got(`${TARGET}?${since}&limit=1&pretty=1`)).headers['x-ignored-params']).toBe('limit, pretty');
  const { status, body } = await got(`${TARGET}?${since}&limit=1&pretty=1&strict=1`);
  expect([status, Object.keys(JSON.parse(body) as object)]).toEqual([400, ['limit', 'pretty']]);
});

test.each(['d'.repeat(12), 'c'.repeat(12)])('is gone since %s, which is unknown or newer', async (since) => {
  const { status, body, headers } = await got(`${TARGET}?since=${since}`);
  const detail = expect.stringContaining('Begin again') as unknown;
  expect([status, JSON.parse(body)]).toEqual([410, { detail, generation: generation.slice(0, 12) }]);
  expect(headers['cache-control']).toBe('no-store');
});

test('has one form, whatever Accept and Accept-Encoding say', async () => {
  const target = `${TARGET}?since=${SECOND}`;
  for (const accept of ['*/*', 'application/x-ndjson', 'application/json', 'text/csv', 'text/html', ''])
    expect((await got(target, { accept })).headers['content-type'], accept).toBe('application/x-ndjson');
  const { headers } = await got(target, { 'accept-encoding': 'gzip' });
  expect(headers['content-encoding']).toBeUndefined();
});

test('responds to HEAD, OPTIONS, conditions and other methods as lists do', async () => {
  const target = `${TARGET}?since=${FIRST}`;
  const whole = await got(target);
  for (const client of clients) {
    const head = await client.send({ method: 'HEAD', target });
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(String(whole.bytes.length));
    const options = await client.send({ method: 'OPTIONS', target: TARGET });
    expect([options.status, JSON.parse(options.body)]).toMatchObject([200, { name: 'Change List' }]);
    const posted = await client.send({ method: 'POST', target });
    expect([posted.status, posted.headers['allow']]).toEqual([405, 'GET, HEAD, OPTIONS']);
    const moved = await client.get(`/api/v3/changes?since=${FIRST}`);
    expect([moved.status, moved.headers['location']]).toEqual([301, target]);
  }
  expect((await got(target, { 'if-none-match': whole.headers['etag']! })).status).toBe(304);
  const part = await got(target, { range: 'bytes=0-0' });
  expect([part.status, part.headers['accept-ranges'], part.bytes.length]).toEqual([200, 'none', whole.bytes.length]);
  const other = await got(`${TARGET}?since=${SECOND}`);
  expect((await got(target, { 'if-none-match': other.headers['etag']! })).status).toBe(200);
});

test('is named by the index and counted under a route of its own', async () => {
  expect(JSON.parse((await got('/')).body)).toMatchObject({ changes: `http://localhost:${server.port}${TARGET}` });
  const admin = clientOf(server.adminUrl);
  const { body } = await admin.get('/metrics');
  admin.close();
  expect(body).toMatch(/requests_total\{route="changes",method="GET",status="200"\} [1-9]/);
});

test('is not found without a log, and says how to get one', async () => {
  const { file } = await snapshot();
  const bare = await runServer(['--data', file, '--threads', '1']);
  const client = clientOf(bare.url);
  const { status, body } = await client.get(`${TARGET}?since=${FIRST}`);
  client.close();
  await bare.kill();
  expect([status, body]).toEqual([404, expect.stringContaining('--follow')]);
});
