// The package as users get it: packed, installed from the tarball into an empty folder by the machine's Node, started
// by npx, asked for everything that needs a separate thread, and stopped. Nothing may change in the installation.
// Skipped with a message if the registry is unreachable.
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { steadyPort } from '../../bench/proxy/shippedProxies.ts';
import { DEMONSTRATION_FILES } from '../../server/authority/demonstration.ts';
import { blocksRunBy } from '../documents/plan.ts';
import { misprintsOf, runBlocks } from '../documents/script.ts';
import { clientOf, type Client } from '../support/client.ts';
import { type CommandProcess, type End, runProgram } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { hasProgram } from '../support/debian.ts';
import { isOutOfReach, machinePath, npmOfMachine } from '../support/machine.ts';
import { IS_WHOLE, times } from '../support/ring.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NAME = 'catalogue-replica';
const BASE_URL = 'https://replica.example.org';
/** In the nightly run, enough for a snapshot that several threads load (data/store/load.ts). */
const OBSERVATIONS = times(500, 20_000);

const directory = temporaryDirectory();
const app = join(directory, 'app');
const home = join(directory, 'home');
const demonstration = join(home, '.cache', NAME, 'demonstration-authority');
/** The program must find the Node that runs it without this project's folder in PATH. */
const environment = { PATH: machinePath(), HOME: home };
const run = promisify(execFile);
const running: CommandProcess[] = [];
let tarball: string;
let outOfReach: string | undefined;
let before: readonly string[] = [];

/** Every file of the installation with its length and time. */
function installation(): readonly string[] {
  const modules = join(app, 'node_modules');
  return readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .map((name) => {
      const { size, mtimeMs } = statSync(join(modules, name));
      return `${name} ${size} ${mtimeMs}`;
    })
    .toSorted();
}

beforeAll(async () => {
  mkdirSync(app);
  mkdirSync(home);
  const env = { ...process.env, PATH: environment.PATH };
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', directory], { cwd: ROOT, env });
  tarball = join(directory, stdout.trim());
  try {
    const words = [
      'install',
      '--ignore-scripts',
      '--prefix',
      app,
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
      tarball,
    ];
    await run('npm', words, { cwd: app, env });
  } catch (error) {
    const { stderr } = error as { readonly stderr: string };
    if (!isOutOfReach(stderr)) throw error;
    outOfReach = 'the registry is out of reach';
    return;
  }
  before = installation();
});
beforeEach(({ skip }) => skip(outOfReach !== undefined, outOfReach));
afterAll(() => Promise.all(running.map((one) => one.kill())));

/** Runs the command with npx, as README.md shows it. */
function npx(...words: readonly string[]): CommandProcess {
  const one = runProgram('npx', [NAME, ...words], { environment, directory: app, isGroup: true });
  running.push(one);
  return one;
}

/** Output of a command that must exit with 0. */
async function outputOf(...words: readonly string[]): Promise<string> {
  const one = npx(...words);
  expect(await one.ended, one.err()).toEqual({ code: 0, signal: null });
  return one.out();
}

/** Sends requests to a starting server, stops it by a signal, and returns how it exited. */
async function asked(
  server: CommandProcess,
  signal: NodeJS.Signals,
  ask: (client: Client, url: string) => Promise<void>,
): Promise<End> {
  const [, url] = await server.printed(/listening on (http:\S+)\n[^]*try: /);
  const client = clientOf(url!);
  try {
    await ask(client, url!);
  } finally {
    client.close();
    server.signal(signal);
  }
  return server.ended;
}

test('contains no source and no test, and prints its version', async () => {
  const own = before.filter((line) => line.startsWith(`${NAME}/`));
  expect(own.filter((line) => /\.ts |^catalogue-replica\/(?:test|bench\/(?!FIGURES\.md))/.test(line))).toEqual([]);
  expect(await outputOf('--version')).toBe('0.1.0\n');
});

test('refuses a wrong flag with exit code 2 and the nearest known flag', async () => {
  const one = npx('serve', '--prot', '1');
  expect(await one.ended).toEqual({ code: 2, signal: null });
  expect(one.err()).toContain('Did you mean --port?');
});

test('serves the embedded sample with its authority, in threads of every kind, until Ctrl-C', async () => {
  const server = npx('serve', '--port', '0');
  await asked(server, 'SIGINT', async (client, url) => {
    const root = await client.get('/api/v3/');
    expect(root.status).toBe(200);
    const collections = Object.keys(JSON.parse(root.body) as object);
    expect(collections.length).toBe(34);
    for (const name of collections) expect(await client.get(`/api/v3/${name}/?limit=1`)).toMatchObject({ status: 200 });
    const deep = await client.get('/api/v3/observations/?limit=10&offset=480');
    expect(JSON.parse(deep.body)).toMatchObject({ results: { length: 10 } });
    // Responses that waited for the pool have the header.
    const heavy = await client.get('/api/v3/observations/?abstract__regex=oc.an&limit=5');
    expect(heavy).toMatchObject({ status: 200, headers: { 'server-timing': expect.any(String) } });
    const call = (...words: readonly string[]): Promise<string> => outputOf('authority', 'call', url, ...words);
    expect(await call('getTrustedHostInfo', '--role', 'data-reader')).toContain('Demonstration Partner');
    // The thread that signs reads long messages.
    expect(await call('getTrustedHostInfo', '--role', 'x'.repeat(20_000))).toContain('trustedHostInfo: 0');
    const certificates = ['--cert', join(demonstration, DEMONSTRATION_FILES.visitor)];
    const attributes = ['--att-cert', join(demonstration, DEMONSTRATION_FILES.visitorCertificate)];
    // Signed in a separate thread.
    expect(await call('reqAuthorisation', ...certificates, ...attributes)).toContain('data-reader');
  });
  expect(server.err()).toMatch(/draining/);
});

test('generates data, imports and compresses them in threads, verifies and loads them', async () => {
  const data = join(directory, 'data');
  const file = join(directory, 'data.snapshot');
  await outputOf('generate', '--observations', String(OBSERVATIONS), '-o', data);
  const words = ['import', data, '-o', file, '--threads', '1', '--base-url', BASE_URL];
  expect(await outputOf(...words)).toContain(`the records compressed for ${BASE_URL}`);
  expect(await outputOf('verify', file)).toContain(file);
  if (IS_WHOLE) expect(statSync(file).size).toBeGreaterThan(128 << 20);
  // Started like by a service manager: the command itself, which exits with 0 on a signal.
  const command = join(app, 'node_modules', '.bin', NAME);
  const server = runProgram(command, ['serve', '--data', file, '--port', '0', '--base-url', BASE_URL], { environment });
  running.push(server);
  const end = await asked(server, 'SIGTERM', async (client) => {
    const page = await client.get('/api/v3/observations/?limit=1', { 'accept-encoding': 'gzip' });
    expect(page).toMatchObject({ status: 200, headers: { 'content-encoding': 'gzip' } });
  });
  expect(end).toEqual({ code: 0, signal: null });
  expect(server.out()).toContain('loaded compressed records');
  if (availableParallelism() === 1) process.stderr.write('a single core: nothing was loaded in threads\n');
});

test.skipIf(!hasProgram('nginx') || !hasProgram('curl'))(
  'starts a first replica with nginx as the runbook says',
  async () => {
    const folder = join(directory, 'first');
    const [replica, admin, proxy] = [await steadyPort(), await steadyPort(), await steadyPort()];
    const replaced = {
      'path/to/catalogue-replica-0.1.0.tgz': `--prefix ${folder} ${tarball}`,
      '--port 8081': `--port ${replica}`,
      // The shipped file contains this port too.
      '> nginx.conf': `| sed s/8081/${replica}/ > nginx.conf`,
      '--admin-port 9081': `--admin-port ${admin}`,
      'localhost:9081': `localhost:${admin}`,
      'listen 8000': `listen ${proxy}`,
      'localhost:8000': `localhost:${proxy}`,
    };
    const blocks = blocksRunBy('test/load/package.long.test.ts', 'deploy/README.md');
    const site = { directory: folder, home, replaced, environment: npmOfMachine(), isInstalled: true };
    try {
      expect(misprintsOf(await runBlocks(blocks, site))).toEqual([]);
    } finally {
      // The guide's last block stops it too, if it is reached.
      spawnSync('nginx', ['-e', 'stderr', '-c', join(folder, 'nginx.conf'), '-s', 'stop']);
    }
  },
);

test('changes nothing in its installation', () => {
  expect(before.length).toBeGreaterThan(300);
  expect(installation()).toEqual(before);
});
