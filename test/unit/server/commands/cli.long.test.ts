// The command line: version, refusals with the nearest known name, and the exit code of each kind of exit.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand, spawnedCommand } from '../../../support/commandProcess.ts';
import { parse } from '../../../support/parsedWords.ts';
import { sampleSnapshot } from '../../../support/sampleSnapshot.ts';

const SIGNALS_URL = new URL('../../../../server/process/signals.ts', import.meta.url).href;
let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'catalogue-cli-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

describe('a usage error', () => {
  test.each([
    [['serv'], "unknown command 'serv'", 'Did you mean serve?'],
    [['serve', '--prot', '1'], "unknown option '--prot'", 'Did you mean --port?'],
    [['import', 'x', '-o', 'y', '--leniant'], "unknown option '--leniant'", 'Did you mean --lenient?'],
    [['import', 'x'], "required option '-o, --output <file>' not specified", '--help'],
    [['verify'], "missing required argument 'file'", '--help'],
    [['verify', 'a', 'b'], 'too many arguments', '--help'],
    [['generate', '--seed', '1', '-o', 'x'], "required option '--observations <number>'", '--help'],
    [
      ['generate', '--observations', '1e9', '-o', 'x'],
      "option '--observations <number>' argument '1e9' is invalid",
      'Want an integer from 1 to 100000000.',
    ],
    [
      ['import', 'x', '-o', 'y', '--threads', '0'],
      "option '--threads <number>' argument '0' is invalid",
      'Want an integer from 1 to 1024.',
    ],
  ])('is refused for %j with the nearest name', async (words, complaint, cure) => {
    const { out, error, thrown } = await parse(...words);
    expect(out).toBe('');
    expect(error).toContain(`catalogue-replica: ${complaint}`);
    expect(error).toContain(cure);
    expect(thrown).toMatchObject({ name: 'CommanderError' });
  });

  test.each([
    ['publish', 'x', '--to', 'file:///x'],
    ['follow', 'http://a.example.org', '-o', 'y'],
  ])('names for %s the number of servers that a NATS bucket may have', async (...words) => {
    const { thrown } = await parse(...words, '--nats-replicas', '6');
    expect(String(thrown)).toContain('flag --nats-replicas: got "6", want an integer from 1 to 5');
  });

  test('is reported if follow prunes a target without publishing', async () => {
    const { thrown } = await parse('follow', 'http://a.example.org', '-o', join(directory, 'y'), '--keep', '3');
    expect(thrown).toMatchObject({ code: 'usage', message: expect.stringContaining('only beside --publish-to') });
  });

  test('is reported if generate would write into a directory with files', async () => {
    writeFileSync(join(directory, 'file'), '');
    const { thrown } = await parse('generate', '--observations', '1', '-o', directory);
    expect(thrown).toMatchObject({ code: 'usage', message: expect.stringContaining('--force') });
  });

  test('is reported if import would write to a directory, before it begins', async () => {
    const { error, thrown } = await parse('import', join(directory, 'absent'), '-o', directory);
    expect(thrown).toMatchObject({
      code: 'usage',
      message: `--output ${directory} is a directory; want the name of the file to write`,
    });
    expect(error).toBe('');
  });
});

test('reports by import and changes what blocks their output or input', async () => {
  const loop = join(directory, 'loop');
  symlinkSync(loop, loop);
  const reason = (name: string): unknown =>
    expect.objectContaining({
      code: 'file',
      message: expect.stringMatching(new RegExp(`^cannot read .*${name}: ELOOP`)) as string,
    });
  expect((await parse('import', join(directory, 'absent'), '-o', join(loop, 'x'))).thrown).toEqual(reason('x'));
  expect((await parse('changes', join(loop, 'y'))).thrown).toEqual(reason('y'));
});

describe('the exit code', () => {
  test('of --version is 0, and the version is that of package.json', () => {
    const manifest = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'));
    expect(spawnedCommand(['--version'])).toMatchObject({ status: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });

  test('of no command is 2, with the help on stderr', () => {
    expect(spawnedCommand([])).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('Commands:') });
  });

  test('of an unknown flag is 2', () => {
    expect(spawnedCommand(['serve', '--bogus'])).toMatchObject({ status: 2, stdout: '' });
  });

  test('of a wrong setting is 2, and each line names the program and the source of the value', () => {
    const config = join(directory, 'wrong.toml');
    writeFileSync(config, 'host = 1\n');
    const environment = { CATALOGUE_PORT: 'tcp://10.0.0.1:80', CATALOGUE_CONFIG: config };
    expect(spawnedCommand(['explain', '/', '--links', 'x'], { environment })).toMatchObject({
      status: 2,
      stdout: '',
      stderr: [
        `catalogue-replica: ${config}:1:1: key host: got 1, want an IP address (IPv6 without brackets) or a host name`,
        'catalogue-replica: environment variable CATALOGUE_PORT: got "tcp://10.0.0.1:80", want an integer from 0 to 65535',
        'catalogue-replica: flag --links: got "x", want spec or request',
        '',
      ].join('\n'),
    });
  });

  test('of a variable that is not a setting is 2, with the nearest one', () => {
    expect(spawnedCommand(['serve', '--check'], { environment: { CATALOGUE_THREAD: '2' } })).toMatchObject({
      status: 2,
      stdout: '',
      stderr:
        'catalogue-replica: unknown environment variable CATALOGUE_THREAD: the nearest known is CATALOGUE_THREADS\n',
    });
  });

  test('of an operational error is 1, in one line without a stack', () => {
    const config = join(directory, 'absent.toml');
    expect(spawnedCommand(['serve', '--config', config])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: `catalogue-replica: config file ${config} cannot be read (ENOENT)\n`,
    });
  });

  test('of an internal error is 70, with its stack', () => {
    const sabotage = 'data:text/javascript,JSON.parse=()=>{throw new TypeError("sabotage")}';
    const { status, stderr } = spawnedCommand(['serve'], { node: ['--import', sabotage] });
    expect(status).toBe(70);
    expect(stderr).toMatch(/this is a bug .*\nTypeError: sabotage\n +at /);
  });
});

describe('a signal', () => {
  /**
   * Starts a process that drains for ever or at once, and sends it a signal per printed line. Returns how it exited.
   */
  function end(
    stop: string,
    ...signals: readonly NodeJS.Signals[]
  ): Promise<{ out: string; code: unknown; by: unknown }> {
    // Its clock advances by one second with each reading.
    const script = `import { firstSignal, stopOnSignal } from ${JSON.stringify(SIGNALS_URL)};
      const alive = setInterval(() => {}, 1000);
      let now = 0;
      const clock = () => (now += 1000);
      const print = (line) => process.stdout.write(line + '\\n');
      const stopped = stopOnSignal(firstSignal(clock), () => ${stop}, print)
        .then(() => { print('stopped'); clearInterval(alive); });
      print('ready');
      await stopped;`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
    const left = [...signals];
    let out = '';
    return new Promise((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        out += chunk.toString();
        const signal = left.shift();
        if (signal) child.kill(signal);
      });
      child.on('exit', (code, by) => resolve({ out, code, by }));
    });
  }

  test.each(['SIGINT', 'SIGTERM'] as const)('%s drains the process, which exits with 0', async (signal) => {
    const { out, code } = await end('Promise.resolve()', signal);
    expect(out).toBe(`ready\ndraining ... after ${signal} (a second Ctrl-C ends at once)\nstopped\n`);
    expect(code).toBe(0);
  });

  test('that comes second ends the process at once', async () => {
    const { out, by } = await end('new Promise(() => {})', 'SIGTERM', 'SIGINT');
    expect(out).toMatch(/^ready\ndraining \.\.\..*\n$/);
    expect(by).toBe('SIGINT');
  });
});

test('begins a JSON log with the version and the process, and names the signal at its end', async () => {
  const words = ['--data', await sampleSnapshot(), '--port', '0', '--threads', '1', '--log-format', 'json'];
  const server = runCommand(['serve', ...words]);
  await server.printed(/try: .*\n/);
  server.signal('SIGTERM');
  expect(await server.ended).toEqual({ code: 0, signal: null });
  const lines = server.out().trimEnd().split('\n');
  const messages = lines.map((line) => (JSON.parse(line) as { readonly message: string }).message);
  expect(messages[0]).toMatch(/^catalogue-replica \d+\.\d+\.\d+ on Node \d+\.\d+\.\d+, process \d+$/);
  expect(messages.slice(-2)).toEqual(['draining ... after SIGTERM (a second Ctrl-C ends at once)', 'stopped']);
});

describe('serve --check', () => {
  test('reports the effective settings, each with its source, and starts nothing', () => {
    const config = join(directory, 'checked.toml');
    writeFileSync(config, 'links = "request"\n');
    const environment = { CATALOGUE_THREADS: '3', CATALOGUE_CONFIG: config };
    const words = ['serve', '--check', '--port', '9000', '--poll', '3s', '--allow-base-url', 'http://a.example'];
    const { status, stdout, stderr } = spawnedCommand(words, { environment });
    expect([status, stderr]).toEqual([0, '']);
    const joined = stdout.replaceAll(/\n {2,}/g, ' ');
    const rows = joined.split('\n').map((line) => line.split(/ {2,}/));
    expect(rows[0]).toEqual(['setting', 'value', 'from']);
    expect(rows).toContainEqual(['port', '9000', 'flag --port']);
    expect(rows).toContainEqual(['threads', '3', 'environment variable CATALOGUE_THREADS']);
    expect(rows).toContainEqual(['links', 'request', `${config}:1:1: key links`]);
    expect(rows).toContainEqual(['host', '127.0.0.1', 'default']);
    // As in a file: with its keys and units.
    expect(rows).toContainEqual(['poll', '3s', 'flag --poll']);
    expect(rows).toContainEqual(['allowBaseUrl', 'http://a.example', 'flag --allow-base-url']);
    expect(rows).toContainEqual(['every', '15m', 'default']);
    expect(rows).toContainEqual(['maxStale', 'off', 'default']);
    expect(stdout).toMatch(/\ndata: a directory of 34 files .*\nattribute authority: a demonstration\n$/);
  });

  test('finds what would prevent a server from starting', () => {
    const torn = join(directory, 'torn.snapshot');
    writeFileSync(torn, 'no snapshot');
    const refusal = {
      status: 1,
      stdout: '',
      stderr: `catalogue-replica: ${torn}: file has 11 bytes, a header takes 128\n`,
    };
    expect(spawnedCommand(['serve', '--check', '--data', torn])).toMatchObject(refusal);
    const authority = join(directory, 'wrong-authority.toml');
    writeFileSync(authority, 'name = 1\n');
    expect(spawnedCommand(['serve', '--check', '--authority', authority])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining(`${authority}:1`),
    });
  });
});
