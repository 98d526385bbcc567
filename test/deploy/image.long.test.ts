import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runProgram } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { isOutOfReach } from '../support/machine.ts';
import { readProjectFile, ROOT } from '../support/sources.ts';

const directory = temporaryDirectory();
const ends: (() => unknown)[] = [];
afterAll(() => Promise.all(ends.map((end) => end())));

test('builds a program that serves with the RUN lines of the image', async ({ skip }) => {
  const [stage] = readProjectFile('deploy/Dockerfile')
    .split(/^FROM .*$/m)
    .slice(1);
  const commands = [...stage!.matchAll(/^RUN ((?:.*\\\n)*.*)/gm)].map(([, command]) => command!);
  expect(commands).toHaveLength(2);
  mkdirSync(join(directory, 'source'));
  execFileSync('tar', ['-x', '-C', join(directory, 'source')], {
    input: execFileSync('git', ['archive', 'HEAD'], { cwd: ROOT, maxBuffer: 2 ** 28 }),
  });
  const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
  // The path may have blanks.
  const parent = directory.replaceAll(' ', '\\ ');
  for (const command of commands) {
    const text = command.replaceAll(/(?<= )\/(package|opt)/g, `${parent}/$1`);
    const { status, stderr } = spawnSync('bash', ['-e', '-c', text], {
      cwd: join(directory, 'source'),
      encoding: 'utf8',
      env: { ...process.env, PATH, npm_config_prefer_offline: 'true' },
    });
    skip(isOutOfReach(stderr), 'the registry is out of reach');
    expect([status, stderr]).toEqual([0, expect.any(String)]);
  }
  const program = join(directory, 'opt/catalogue');
  expect(readdirSync(join(program, 'node_modules/uWebSockets.js/dist/bin'))).toHaveLength(1);
  expect(readdirSync(join(program, 'node_modules'))).not.toContain('vitest');
  const server = runProgram(process.execPath, [join(program, 'server/launch.js'), 'serve', '--port', '0']);
  ends.push(() => server.kill());
  const [, url] = await server.printed(/listening on (http:\S+)\n[^]*try: /);
  expect((await fetch(`${url}/api/v3/observations/?limit=1`)).status).toBe(200);
});
