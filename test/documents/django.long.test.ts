// The page on differences from Django REST Framework: sends every row of its tables to a service on Debian's Django
// REST Framework and django-filter, and to this program. The statements of the row must hold for both responses.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, clientOf, type Received } from '../support/client.ts';
import { type Server, runServer } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { type Django, hasDjango, startDjango } from '../support/django.ts';
import { ROOT } from '../support/sources.ts';
import { tableUnder } from './blocks.ts';

const PAGE = 'server/catalogue/DJANGO.md';
const SAMPLE = join(ROOT, 'data/sample');
const temporary = temporaryDirectory();
const TYPES: Readonly<Record<string, string>> = { JSON: 'application/json', HTML: 'text/html', CSV: 'text/csv' };

/** The statements of a cell about a response, with code in backticks kept whole. */
function partsOf(cell: string): readonly string[] {
  return cell.match(/`[^`]*`|[^,`]+/g)?.flatMap((part) => (part.trim() === '' ? [] : [part.trim()])) ?? [];
}

/** The statements of a cell that do not hold for a response. */
function untruths(cell: string, { status, headers, body }: Received): readonly string[] {
  const page = (): { readonly count: number; readonly results: readonly { readonly ob_id: number }[] } =>
    JSON.parse(body) as never;
  const holds = (part: string): boolean => {
    const [, number = '', what = ''] = /^(\d+) ?(in all|shown)?$/.exec(part) ?? [];
    const [, first] = /^first (\d+)$/.exec(part) ?? [];
    const [, code] = /^`(.+)`$/.exec(part) ?? [];
    const [, name, value] = /^([A-Z][\w-]+): (.*)$/.exec(code ?? '') ?? [];
    if (what === 'in all') return page().count === Number(number);
    if (what === 'shown') return page().results.length === Number(number);
    if (number !== '') return status === Number(number);
    if (first !== undefined) return page().results[0]?.ob_id === Number(first);
    if (name !== undefined) return headers[name.toLowerCase()] === value;
    if (code !== undefined) return body.includes(code);
    if (part in TYPES) return headers['content-type']?.split(';')[0] === TYPES[part];
    throw new Error(`${PAGE}: nothing is known of "${part}"`);
  };
  return partsOf(cell).filter((part) => !holds(part));
}

/** Sends the request of a cell: an optional method, a target, and optional headers. */
function asked(client: Client, cell: string): Promise<Received> {
  const [request = '', ...lines] = [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
  const [target = '', method = 'GET'] = request.split(' ').toReversed();
  const named = lines.map((line) => line.split(': ') as [string, string]);
  return client.send({ method, target: `/api/v3/${target}`, headers: Object.fromEntries(named) });
}

test('detects a false statement in a cell', () => {
  const body = '{"count":3,"results":[{"ob_id":7}]}';
  const answer = { status: 200, headers: { 'content-type': 'application/json', 'x-a': 'b' }, body, bytes: Buffer.of() };
  expect(untruths('200, 3 in all, 1 shown, first 7, JSON, `X-A: b`, `"ob_id":7`', answer)).toEqual([]);
  const wrong = ['404', '2 in all', '3 shown', 'first 3', 'HTML', '`X-A: c`', '`X-B: b`', '`"ob_id":8`'];
  expect(untruths(wrong.join(', '), answer)).toEqual(wrong);
  expect(() => untruths('200, something', answer)).toThrow('nothing is known of "something"');
});

describe.skipIf(!hasDjango)('the page on Django REST Framework', () => {
  let service: Django;
  let server: Server;
  let clients: readonly [django: Client, here: Client];

  beforeAll(async () => {
    service = await startDjango(SAMPLE, join(temporary, 'database'));
    server = await runServer(['--data', SAMPLE, '--threads', '1']);
    clients = [clientOf(service.url), clientOf(server.url)];
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    await Promise.all([service.stop(), server.stop()]);
  });

  const other = tableUnder(PAGE, 'Different responses').map(([of, request, django, here]) => [
    of,
    request,
    django,
    here,
  ]);
  const same = tableUnder(PAGE, 'Same responses').map(([of, request, both]) => [of, request, both, both]);

  test('has rows in both tables', () => {
    expect(Math.min(other.length, same.length)).toBeGreaterThan(10);
  });

  test.each([...other, ...same])('is right about %s: %s', async (_of, request, django, here) => {
    const [theirs, ours] = await Promise.all(clients.map((client) => asked(client, request!)));
    expect({ django: untruths(django!, theirs!), here: untruths(here!, ours!) }).toEqual({ django: [], here: [] });
    // If the cells differ, the responses must too: one cell is false for the response of the other side.
    if (django !== here) expect([...untruths(here!, theirs!), ...untruths(django!, ours!)]).not.toEqual([]);
  });
});
