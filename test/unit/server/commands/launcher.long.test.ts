// The launcher: the Node that it chooses, the files of a checkout and of a package that it runs, and the signals that
// it forwards.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { BUILDING_MEMORY } from '../../../../server/process/followProcess.ts';
import { runProgram, spawnedCommand } from '../../../support/commandProcess.ts';
import { dataSetOf, temporaryDirectory } from '../../../support/dataSets.ts';
import { sampleSnapshot } from '../../../support/sampleSnapshot.ts';

const LAUNCHER = fileURLToPath(new URL('../../../../server/launch.js', import.meta.url));
/** Makes the launcher treat the Node that runs it as too old. */
const OLD_NODE =
  'data:text/javascript,if(process.argv[1].endsWith("launch.js"))Object.defineProperty(process.versions,"node",{value:"20.1.0"})';

const directory = temporaryDirectory();

test('runs the command line on a suitable Node', () => {
  expect(spawnedCommand(['serv'], { script: LAUNCHER })).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('Did you mean serve?'),
  });
});

test('runs the sources of a checkout, whatever was packed from it, and in a package the packed files', () => {
  const checkout = dataSetOf(directory, {
    'package.json': '{ "type": "module" }',
    'server/launch.js': readFileSync(LAUNCHER, 'utf8'),
    'server/commands/cli.ts': "process.stdout.write('source');",
    'dist/server/commands/cli.js': "process.stdout.write('compiled');",
  });
  const script = join(checkout, 'server', 'launch.js');
  expect(spawnedCommand([], { script })).toMatchObject({ status: 0, stdout: 'source' });
  rmSync(join(checkout, 'server', 'commands'), { recursive: true });
  expect(spawnedCommand([], { script })).toMatchObject({ status: 0, stdout: 'compiled' });
});

test('configures the memory of glibc for builds, unless the environment does, and keeps flags and arguments', () => {
  const checkout = dataSetOf(directory, {
    'package.json': '{ "type": "module" }',
    'server/launch.js': readFileSync(LAUNCHER, 'utf8'),
    'server/commands/cli.ts':
      'process.stdout.write([process.env.GLIBC_TUNABLES, ...process.execArgv, ...process.argv.slice(2)].join());',
  });
  const script = join(checkout, 'server', 'launch.js');
  const stdoutOf = (command: string, tunables?: string): string => {
    const environment = { GLIBC_TUNABLES: tunables };
    return spawnedCommand([command, '-o'], { script, node: ['--no-deprecation'], environment }).stdout;
  };
  const ours = process.platform === 'linux' ? BUILDING_MEMORY.GLIBC_TUNABLES : '';
  // The restarted process gets one more flag.
  const added = process.platform === 'linux' ? '--disable-sigusr1,' : '';
  expect(stdoutOf('import')).toBe(`${ours},${added}--no-deprecation,import,-o`);
  expect(stdoutOf('import', 'glibc.malloc.check=0')).toBe('glibc.malloc.check=0,--no-deprecation,import,-o');
  expect(stdoutOf('serve')).toBe(',--no-deprecation,serve,-o');
});

test('starts the Node of the install if the current one is not suitable', () => {
  const { status, stdout, stderr } = spawnedCommand(['--version'], { script: LAUNCHER, node: ['--import', OLD_NODE] });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('forwards HUP and USR2, opens no inspector on USR1, and ends its server if it is killed', async () => {
  const words = [
    '--import',
    OLD_NODE,
    LAUNCHER,
    'serve',
    '--data',
    await sampleSnapshot(),
    '--port',
    '0',
    '--threads',
    '1',
  ];
  const server = runProgram(process.execPath, words);
  await server.printed(/listening on .*\n[^]*try: /);
  server.signal('SIGUSR1');
  server.signal('SIGHUP');
  await server.printed(/the data has not changed: .*\n/);
  server.signal('SIGUSR2');
  await server.printed(/SIGUSR2: there is no log to reopen\n/);
  expect(server.err()).not.toContain('Debugger');
  // Resolves when no process holds its output, including the server.
  await server.kill();
  expect(server.out()).toMatch(/\ndraining \.\.\./);
});

test('exits as its server does: by the signal that came before it was ready', async () => {
  const words = ['--import', OLD_NODE, LAUNCHER, 'serve', '--from', 'http://127.0.0.1:1/', '--port', '0'];
  const server = runProgram(process.execPath, [...words, '--cache', join(directory, 'cache'), '--log-format', 'json']);
  await server.printed(/127\.0\.0\.1:1/);
  server.signal('SIGTERM');
  expect(await server.ended).toEqual({ code: null, signal: 'SIGTERM' });
});

test.each([24, 26])('uses Node %i if no other is installed, or if the installed one does not start', (major) => {
  const checkout = dataSetOf(directory, {
    'package.json': '{ "type": "module" }',
    'server/launch.js': readFileSync(LAUNCHER, 'utf8'),
    'server/commands/cli.ts': "process.stdout.write('here');",
  });
  const script = join(checkout, 'server', 'launch.js');
  const newer = `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"${major}.1.0"})`;
  expect(spawnedCommand([], { script, node: ['--import', newer] })).toMatchObject({
    status: 0,
    stdout: 'here',
    stderr: '',
  });
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const installed = join(checkout, 'node_modules', `node-${platform}-${process.arch}`);
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, 'package.json'), '{ "version": "22.18.0", "bin": { "node": "none" } }');
  expect(spawnedCommand([], { script, node: ['--import', newer] })).toMatchObject({
    status: 0,
    stdout: 'here',
    stderr: '',
  });
});

test('reports in one line which Node is required if there is none', () => {
  const alone = join(directory, 'launch.mjs');
  writeFileSync(alone, readFileSync(LAUNCHER));
  const old = 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"18.0.0"})';
  expect(spawnedCommand(['serve'], { script: alone, node: ['--import', old] })).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^catalogue-replica: this is Node 18\.0\.0; wanted is Node 22\.18 .*\n$/),
  });
});
