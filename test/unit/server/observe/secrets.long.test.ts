// No output repeats a secret: neither the refusal of a secret in the wrong place, nor any output of a server with
// secrets in its environment and files, whatever the requests and failures.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SETTINGS } from '../../../../server/settings/declarations.ts';
import { withoutSecrets } from '../../../../server/settings/values.ts';
import { clientOf } from '../../../support/client.ts';
import { runCommand, runServer } from '../../../support/commandProcess.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';

const directory = temporaryDirectory();
const SECRET = 'hush-9f3e';
const USER = `http://someone:${SECRET}@127.0.0.1:1/x/`;
const QUERY = `http://127.0.0.1:1/x/?b=1&token=${SECRET}`;

const credentials = join(directory, 'nats.creds');
writeFileSync(credentials, `someone:${SECRET}\n`);
/** The credentials of a publisher or replica: S3 keys in the environment, and a file for NATS. */
const environment = {
  AWS_ACCESS_KEY_ID: `id-${SECRET}`,
  AWS_SECRET_ACCESS_KEY: `key-${SECRET}`,
  AWS_SESSION_TOKEN: `token-${SECRET}`,
  CATALOGUE_NATS_CREDENTIALS: credentials,
};

/** Responds as an S3 server that refuses and repeats the whole request. Real servers repeat parts of it. */
const echo = createServer((request, response) => {
  const sent = JSON.stringify(request.headers).replaceAll('<', '');
  response.writeHead(403, { 'content-type': 'application/xml' });
  response.end(`<Error><Code>SignatureDoesNotMatch</Code><Message>${sent} key-${SECRET}</Message></Error>`);
});
await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
const endpoint = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
afterAll(() => echo.close());

const configured = join(directory, 'secret.toml');
writeFileSync(configured, `follow = "${USER}"\nbaseUrl = "${QUERY}"\n`);

test.each([
  [['serve', '--check', '--from', QUERY], 2],
  [['serve', '--check', '--follow', USER], 2],
  [['serve', '--check', '--config', configured], 2],
  [['publish', join(directory, 'none.snapshot'), '--to', `nats://someone:${SECRET}@127.0.0.1:1/bucket`], 2],
  [['crawl', USER, '-o', join(directory, 'crawled')], 2],
  [['import', directory, '-o', join(directory, 'a.snapshot'), '--base-url', USER], 2],
] as const)('refuses %j without repeating the secret', async (words, code) => {
  const command = runCommand(words, { environment });
  expect(await command.ended).toEqual({ code, signal: null });
  expect(command.err()).toMatch(/^catalogue-replica: /);
  expect(command.out() + command.err()).not.toContain(SECRET);
});

test.each([
  [['s3://bucket/x', '--s3-endpoint', endpoint], 'SignatureDoesNotMatch'],
  [['nats://127.0.0.1:1/bucket'], 'connection refused'],
])('reports an error of %j without the secrets of its request', async (words, why) => {
  const command = runCommand(['serve', '--check', '--from', ...words], { environment });
  expect((await command.ended).code).toBe(0);
  expect(command.out()).toContain(why);
  expect(command.out() + command.err()).not.toContain(SECRET);
});

/** A catalogue whose root view redirects to a URL with secrets, or contains some. */
const leading = createServer((request, response) => {
  const isPlain = request.url!.startsWith('/plain/');
  response.writeHead(isPlain ? 200 : 302, { location: `${QUERY}&user=${USER}` });
  response.end(isPlain ? JSON.stringify({ notes: USER, times: QUERY }) : '');
});
await new Promise<void>((resolve) => leading.listen(0, '127.0.0.1', resolve));
afterAll(() => leading.close());

test.each([
  [['crawl'], '', /"event":"refused","reason":"[^"]*302: leads to http/],
  [['follow', '--once'], '', /"event":"refused","reason":"[^"]*302: leads to http/],
  [['follow'], '', /"event":"refused","reason":"[^"]*302: leads to http/],
  [['crawl'], '/plain', /"event":"pageRetried".*"reason":"notes: /],
] as const)(
  'reports by %j of %s why a catalogue is unusable without the secrets of its response',
  async (words, path, why) => {
    const url = `http://127.0.0.1:${(leading.address() as AddressInfo).port}${path}`;
    const output = join(mkdtempSync(join(directory, 'told-')), 'output');
    const command = runCommand([...words, url, '-o', output, '--rate', '1000', '--log-format', 'json']);
    await command.printed(why);
    await command.kill();
    expect(command.out() + command.err()).not.toContain(SECRET);
  },
);

test('reveals to no client of a server its environment and the content of its secret files', async () => {
  const log = join(directory, 'access.log');
  const words = ['--admin-port', '0', '--threads', '1', '--access-log', log];
  const checked = runCommand(['serve', '--check', ...words], { environment });
  expect((await checked.ended).code).toBe(0);
  expect(checked.out()).toContain(credentials);

  const server = await runServer(words, { environment });
  const [, origin] = await server.printed(/admin on (http:\/\/127\.0\.0\.1:\d+)\/status\n/);
  const clients = [clientOf(origin!), clientOf(server.url), clientOf(`http://127.0.0.1:${server.http10Port}`)];
  const [admin, ...both] = clients as [(typeof clients)[0], ...typeof clients];
  const heard: string[] = [];
  for (const path of ['/status?pretty', '/metrics', '/livez', '/readyz', '/nothing'])
    heard.push((await admin.get(path)).body);
  for (const path of ['/reload', '/refresh', '/rollback']) {
    heard.push((await admin.send({ method: 'POST', target: path, headers: {} })).body);
  }
  for (const client of both) {
    for (const path of ['/', '/browse/', '/openapi.json', '/healthz', '/api/v3/observations/?nonsense=1&strict=1']) {
      const { headers, body } = await client.get(path);
      heard.push(JSON.stringify(headers), body);
    }
  }
  server.signal('SIGHUP');
  await server.printed(/has not changed/);
  server.signal('SIGTERM');
  expect(await server.ended).toEqual({ code: 0, signal: null });
  for (const client of clients) client.close();
  const told = [...heard, checked.out(), checked.err(), server.out(), server.err(), readFileSync(log, 'utf8')].join(
    '\n',
  );
  expect(heard[0]).toContain(JSON.stringify(credentials));
  expect(told).not.toContain(SECRET);
  expect(told).not.toMatch(/PRIVATE KEY/);
});

test('has no setting with a secret as its value', () => {
  for (const { name, kind } of SETTINGS) {
    if (/secret|password|token|credential|key/i.test(name)) expect([name, kind.placeholder]).toEqual([name, '<path>']);
  }
});

test('removes user, password and query values from URLs in a message, and keeps all else', () => {
  expect(withoutSecrets('flag --from: got "http://a:b@c@h:1/x?y=z&w=v#f", want "s3://k@b/p"')).toBe(
    'flag --from: got "http://…@h:1/x?y=…&w=…#f", want "s3://…@b/p"',
  );
  expect(withoutSecrets('page 3 (https://h/?x=y)z&w=v): answered 500, see https://h/?x=y.')).toBe(
    'page 3 (https://h/?x=…&w=…): answered 500, see https://h/?x=….',
  );
  const plain = 'https://h/a@b and user@host of /etc/x: want a number, got "1 & 2"';
  expect(withoutSecrets(plain)).toBe(plain);
});
