// The unit file under a real systemd in a separate machine: follows the runbook's installation, start and upgrade
// exactly, and checks the limits of a service, its stops and restarts, and the authority's key as a credential.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { blocksRunBy } from '../documents/plan.ts';
import { misprintsOf, runBlocks, type Site } from '../documents/script.ts';
import { type CommandProcess, runProgram } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { hasProgram } from '../support/debian.ts';
import { DEEDS, killerIn } from '../support/killer.ts';
import { isOutOfReach, machinePath, npmOfMachine } from '../support/machine.ts';
import { ROOT } from '../support/sources.ts';

const BOOT = fileURLToPath(new URL('bootMachine.sh', import.meta.url));
const OWN = ['--mount', '--pid', '--fork', '--ipc', '--uts', '--net', '--cgroup'];
const BOOTED_MS_MAX = 60_000;
const COMMAND_MS_MAX = 90_000;
const EACH_MS = 100;

interface Said {
  readonly code: number | null;
  readonly printed: string;
}

/** A machine that is running. */
interface SystemdMachine {
  /** The prefix of a command that runs inside the machine. */
  readonly inside: readonly [program: string, ...words: string[]];
  /** Runs a shell script there. Returns its output on both streams, and its exit code. */
  readonly run: (script: string) => Said;
  /** Stops the machine and everything in it. */
  readonly stop: () => Promise<void>;
}

/** Whether namespaces can be made, and the programs and a Node for services are installed. Cost: a process. */
function canBoot(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const wanted = ['systemd-analyze', 'ip', 'pgrep', 'nsenter'] as const;
  if (!wanted.every((name) => hasProgram(name)) || !['/usr/local/bin/node', '/usr/bin/node'].some(existsSync))
    return false;
  if (cgroupFolder() === undefined) return false;
  const probe = 'test -x /lib/systemd/systemd && mount -t tmpfs tmpfs /mnt';
  return spawnSync('unshare', [...OWN, 'sh', '-c', probe]).status === 0;
}

/** Boots a machine that shares the folders `shared`: 1 s. Throws if it is not up within a minute. */
async function bootSystemd(...shared: readonly string[]): Promise<SystemdMachine> {
  const group = `${cgroupFolder()}/catalogue-test-${process.pid}`;
  mkdirSync(group);
  const unshare = `setpriv --pdeathsig KILL unshare ${OWN.join(' ')} --kill-child bash ${BOOT} ${shared.join(' ')}`;
  const machine = runProgram('bash', ['-c', `echo $$ > ${group}/cgroup.procs && exec ${unshare}`]);
  const stop = async (): Promise<void> => {
    await machine.kill();
    await removed(group);
  };
  try {
    const inside = ['nsenter', '--all', '--root', '--target', await firstProcess(machine)] as const;
    const run = (script: string): Said => said(inside, script);
    await up(run);
    return { inside: [...inside], run, stop };
  } catch (error) {
    await stop();
    throw new Error(`systemd did not come up: ${machine.out()}${machine.err()}`, { cause: error });
  }
}

function said(inside: readonly [program: string, ...words: string[]], script: string): Said {
  const [program, ...words] = [...inside, 'setsid', '--wait', 'bash', '-c', `exec 2>&1; ${script}`] as const;
  const { status, stdout } = spawnSync(program, words, { encoding: 'utf8', cwd: '/', timeout: COMMAND_MS_MAX });
  return { code: status, printed: stdout };
}

/** Waits until everything that starts at a boot runs. */
async function up(run: SystemdMachine['run']): Promise<void> {
  for (let ms = 0; ms < BOOTED_MS_MAX; ms += EACH_MS) {
    if (run('systemctl is-system-running').printed.trim() === 'running') return;
    await delay(EACH_MS);
  }
  throw new Error(run('systemctl is-system-running; systemctl --failed --no-pager').printed);
}

/** The folder of control groups version 2, undefined if it does not exist. */
function cgroupFolder(): string | undefined {
  const { stdout } = spawnSync('findmnt', ['-n', '-o', 'TARGET', '-t', 'cgroup2'], { encoding: 'utf8' });
  return stdout.split('\n').find((line) => line !== '');
}

/** The first process of the machine, by its pid here: the only child of the process that made the namespaces. */
async function firstProcess(machine: CommandProcess): Promise<string> {
  for (let ms = 0; ms < BOOTED_MS_MAX && existsSync(`/proc/${machine.pid}`); ms += EACH_MS) {
    const { stdout } = spawnSync('pgrep', ['--parent', String(machine.pid), '--exact', 'systemd'], {
      encoding: 'utf8',
    });
    if (stdout !== '') return stdout.trim();
    await delay(EACH_MS);
  }
  throw new Error('its first process is not there');
}

/** Removes a control group and those below it, once their processes have exited. */
async function removed(group: string): Promise<void> {
  const below = execFileSync('find', [group, '-depth', '-type', 'd'], { encoding: 'utf8' }).trim().split('\n');
  for (let ms = 0; ; ms += EACH_MS) {
    try {
      for (const one of below) rmdirSync(one);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') below.shift();
      else if (ms > BOOTED_MS_MAX) throw error;
      else await delay(EACH_MS);
    }
  }
}

const SELF = 'test/deploy/systemd.long.test.ts';
const directory = temporaryDirectory();
const home = join(directory, 'home');
const environment = { ...process.env, ...npmOfMachine(), PATH: machinePath() };
const npm = (...words: readonly string[]): string =>
  execFileSync('npm', words, { cwd: directory, env: environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
/** A server of the sample, for the catalogue that is crawled. */
const UPSTREAM_PORT = 8099;

let machine: SystemdMachine;
let outOfReach: string | undefined;
let site: Site;

/** The tarball of the next version: the same program with a different version number. */
function next(tarball: string): string {
  const folder = mkdtempSync(join(directory, 'next-'));
  execFileSync('tar', ['-xzf', tarball, '-C', folder]);
  execFileSync('npm', ['version', '0.2.0', '--no-git-tag-version'], { cwd: join(folder, 'package'), env: environment });
  const file = join(directory, 'catalogue-replica-0.2.0.tgz');
  execFileSync('tar', ['-czf', file, '-C', folder, 'package']);
  return file;
}

describe.skipIf(!canBoot())('a replica as a service', () => {
  beforeAll(async () => {
    mkdirSync(home);
    const tarball = join(directory, npm('pack', '--silent', ROOT).trim());
    try {
      // Fills npm's cache, so that later installations need no network.
      npm('install', '--ignore-scripts', '--prefix', join(directory, 'first'), '--no-audit', '--no-fund', tarball);
    } catch (error) {
      if (!isOutOfReach((error as { readonly stderr: string }).stderr)) throw error;
      outOfReach = 'the registry is out of reach';
      return;
    }
    machine = await bootSystemd(directory, ROOT);
    const upstream = [process.execPath, join(ROOT, 'server/commands/cli.ts'), 'serve', '--port', UPSTREAM_PORT];
    const run = `systemd-run --unit=upstream --setenv=HOME=${home} ${upstream.join(' ')}`;
    expect(
      machine.run(`${run}; curl -s --retry 60 --retry-delay 1 --retry-all-errors localhost:${UPSTREAM_PORT}/healthz`),
    ).toMatchObject({ code: 0 });
    site = {
      directory,
      home,
      replaced: {
        'path/to/catalogue-replica-0.1.0.tgz': tarball,
        'path/to/catalogue-replica-0.2.0.tgz': next(tarball),
        'https://upstream.example.org': `http://127.0.0.1:${UPSTREAM_PORT}`,
      },
      // The installed program needs no type stripping, and its user cannot read the loader. A polite crawl waits for 8
      // s.
      environment: { ...npmOfMachine(), npm_config_offline: 'true', NODE_OPTIONS: '', CATALOGUE_RATE: '1000' },
      isInstalled: true,
      shell: [...machine.inside, 'setsid', '--wait', 'env', '-C', directory, 'bash'],
    };
  });
  beforeEach(({ skip }) => skip(outOfReach !== undefined, outOfReach));
  afterAll(() => (outOfReach === undefined ? machine.stop() : undefined));

  const answers = (path: string, ...ports: readonly number[]): readonly string[] =>
    ports.map((port) => machine.run(`curl -s http://127.0.0.1:${port}${path}`).printed);
  const shown = (unit: string, property: string): string =>
    machine.run(`systemctl show ${unit} --property=${property} --value`).printed.trim();
  /** Waits until the log of a unit contains a text: under load it arrives a moment later. */
  const expectLogged = (unit: string, text: string): void => {
    const has = `journalctl --no-pager -u '${unit}' | grep -qF '${text}'`;
    expect(machine.run(`timeout 30 sh -c "until ${has}; do sleep 0.2; done"`), `${unit}: ${text}`).toMatchObject({
      code: 0,
    });
  };
  const versions = (): readonly unknown[] =>
    answers('/status', 9081, 9082, 9083).map((body) => (JSON.parse(body) as { readonly version: string }).version);

  test('is installed and started three times as the runbook says', async () => {
    const blocks = blocksRunBy(SELF, 'deploy/README.md').filter(({ heading }) => heading === 'Install and start');
    expect(misprintsOf(await runBlocks(blocks, site))).toEqual([]);
    expect(versions()).toEqual(['0.1.0', '0.1.0', '0.1.0']);
    for (const body of answers('/api/v3/observations/?limit=1&fields=ob_id', 8081, 8082, 8083)) {
      expect(body).toContain('{"count":500,"next":"https://catalogue.example.org/api/v3/observations/');
    }
    expectLogged('catalogue@*', 'listening on http://127.0.0.1:8081');
  });

  test('runs as an unprivileged user that sees no home, writes only its folders, and gains no privileges', () => {
    const pid = shown('catalogue@1', 'MainPID');
    const { printed } = machine.run(`cat /proc/${pid}/status; stat --format=%U /proc/${pid}`);
    expect(printed).toMatch(/^CapEff:\t0+$/m);
    expect(printed).toMatch(/^NoNewPrivs:\t1$/m);
    expect(printed).toMatch(/^Seccomp:\t2$/m);
    expect(printed).toMatch(/^catalogue$/m);
    const as = `nsenter --mount --root --target ${pid} runuser -u catalogue --`;
    for (const folder of ['/var/lib/catalogue', '/var/log/catalogue'])
      expect(machine.run(`${as} touch ${folder}/mine`)).toEqual({ code: 0, printed: '' });
    for (const file of ['/var/log/mine', '/etc/mine', '/opt/catalogue/mine', '/usr/mine', '/root/mine', '/home/mine']) {
      expect([file, machine.run(`${as} touch ${file}`).code]).toEqual([file, 1]);
    }
  });

  test('loads new data on reload without a new process', () => {
    const pid = shown('catalogue@1', 'MainPID');
    expect(machine.run('systemctl reload catalogue@1')).toEqual({ code: 0, printed: '' });
    expectLogged('catalogue@1', 'has not changed');
    expect(shown('catalogue@1', 'MainPID')).toBe(pid);
  });

  test('restarts after its process is killed, and is ready when its unit is active', async () => {
    const pid = shown('catalogue@2', 'MainPID');
    machine.run(`kill -KILL ${pid}`);
    const again = `timeout 60 sh -c 'until [ "$(systemctl show catalogue@2 --property=NRestarts --value)" = 1 ] && systemctl is-active --quiet catalogue@2; do sleep 0.1; done'`;
    expect(machine.run(again).code).toBe(0);
    expect(answers('/readyz', 9082)[0]).toContain('ready');
    // No process of the first start remains. A process that starts another one appears twice for a moment.
    const processes = (port: number): string => machine.run(`pgrep --full 'port ${port}' | wc -l`).printed.trim();
    await expect.poll(() => processes(8082), { timeout: 60_000 }).toBe(processes(8081));
  });

  test('restarts after a serving thread throws, becomes unresponsive or fills its heap', () => {
    // The only folder that the user of the service may write.
    const folder = '/var/lib/catalogue/killer';
    const [, preload] = killerIn(directory).node;
    const script = readFileSync(preload!, 'utf8').replaceAll(dirname(preload!), folder);
    const write = (file: string, text: string): string =>
      `cat > ${file}.new <<'END'\n${text}\nEND\nmv ${file}.new ${file}`;
    const dropIn = '/etc/systemd/system/catalogue@3.service.d';
    const options = `[Service]\nEnvironment="NODE_OPTIONS=--max-old-space-size=200 --import=${folder}/preload.mjs"`;
    const installed = [
      `mkdir -p ${folder} ${dropIn}`,
      write(`${folder}/preload.mjs`, script),
      write(`${dropIn}/killer.conf`, options),
      `chown -R catalogue ${folder}`,
      'systemctl daemon-reload && systemctl restart catalogue@3',
    ];
    expect(machine.run(installed.join('\n'))).toEqual({ code: 0, printed: '' });
    const ms = (property: string): number => Number(shown('catalogue@3', `${property}TimestampMonotonic`)) / 1000;
    for (const [i, deed] of (['throws', 'loops', 'leaks'] as const).entries()) {
      machine.run(write(`${folder}/serving`, DEEDS[deed]));
      const again = `until [ "$(systemctl show catalogue@3 --property=NRestarts --value)" = ${i + 1} ] && systemctl is-active --quiet catalogue@3; do sleep 0.1; done`;
      expect([deed, machine.run(`timeout 120 sh -c '${again}'`).code]).toEqual([deed, 0]);
      // Responds again within its load time and 2 s, of which RestartSec is 1 s.
      expect(ms('ExecMainStart') - ms('ActiveExit'), deed).toBeLessThan(2000);
      expect(machine.run(`journalctl --no-pager -u catalogue@3 | grep -c 'status=70'`).printed.trim()).toBe(`${i + 1}`);
    }
    expectLogged('catalogue@3', 'did not turn for 10 s');
    machine.run(`rm -r ${folder} ${dropIn} && systemctl daemon-reload && systemctl restart catalogue@3`);
  });

  test('keeps its program until the restart, even if the next version is installed', async () => {
    const [upgrade] = blocksRunBy(SELF, 'deploy/README.md').filter(({ heading }) => heading === 'Upgrade');
    await runBlocks([{ ...upgrade!, text: upgrade!.text.replace(/^for .*$/m, '') }], site);
    const own = `tr '\\0' '\\n' < /proc/$(pgrep --full 'cli.js serve .*port 8083' | head -1)/cmdline | sed -n 's#/dist/.*#/package.json#p' | xargs cat`;
    expect(machine.run(own).printed).toContain('"version": "0.1.0"');
    // Reads files that no request has needed so far.
    expect(answers('/browse/', 8083)).toEqual([expect.stringContaining('<!doctype html>')]);
    expect(versions()).toEqual(['0.1.0', '0.1.0', '0.1.0']);
    machine.run('ln -sfn catalogue-0.1.0 /opt/catalogue && rm -r /opt/catalogue-0.2.0');
  });

  test('has a builder that follows a catalogue and publishes it, as the runbook says', async () => {
    const dropIn = '/etc/systemd/system/catalogue-follow.service.d';
    const upstream = `Environment=UPSTREAM=http://127.0.0.1:${UPSTREAM_PORT} CATALOGUE_RATE=1000`;
    machine.run(`mkdir -p ${dropIn} && printf '[Service]\n${upstream}\n' > ${dropIn}/upstream.conf`);
    const blocks = blocksRunBy(SELF, 'deploy/README.md').filter(({ heading }) => heading === 'Many machines');
    expect(misprintsOf(await runBlocks(blocks, site))).toEqual([]);
    const pointer = JSON.parse(machine.run('cat /srv/snapshots/current.json').printed) as Record<string, unknown>;
    expect(pointer).toMatchObject({ sequence: 1, refreshed: expect.any(String) as string });
    expectLogged('catalogue-follow', 'published generation');
    // Each process gets the signal once, and exits as intended.
    expect(machine.run('systemctl stop catalogue-follow')).toEqual({ code: 0, printed: '' });
    expect(shown('catalogue-follow', 'Result')).toBe('success');
  });

  test('is upgraded one instance after another as the runbook says', async () => {
    const blocks = blocksRunBy(SELF, 'deploy/README.md').filter(({ heading }) => heading === 'Upgrade');
    expect(misprintsOf(await runBlocks(blocks, site))).toEqual([]);
    expect(versions()).toEqual(['0.2.0', '0.2.0', '0.2.0']);
  });

  test('has the authority’s files as credentials, which its user can read through systemd alone', () => {
    const folder = '/etc/catalogue/authority';
    const demonstration = join(home, '.cache/catalogue-replica/demonstration-authority');
    expect(readdirSync(demonstration).length).toBeGreaterThan(4);
    const steps = [
      `install -d -m 700 ${folder} && install -m 600 -t ${folder} ${demonstration}/{authority.*,ca.pem,users}`,
      'install -D -t /etc/systemd/system/catalogue@.service.d /opt/catalogue/node_modules/catalogue-replica/deploy/authority.conf',
      'systemctl daemon-reload && systemctl restart catalogue@3',
    ];
    expect(machine.run(steps.join(' && '))).toEqual({ code: 0, printed: '' });
    expect(answers('/attAuthority.wsdl', 8083)[0]).toContain('<wsdl:definitions');
    expect(machine.run(`runuser -u catalogue -- cat ${folder}/authority.key`).code).toBe(1);
    expectLogged('catalogue@3', 'attribute authority Demonstration');
  });

  test('does not restart repeatedly with wrong settings, and the other instances keep serving', async () => {
    machine.run(`echo 'prot = 1' >> /etc/catalogue/catalogue.toml`);
    const [block] = blocksRunBy(SELF, 'deploy/README.md').filter(({ heading }) => heading === 'Upgrade');
    const [outcome] = await runBlocks([block!], site);
    expect(outcome!.printed.match(/Job for .* failed/g)).toEqual(['Job for catalogue@1.service failed']);
    expect([shown('catalogue@1', 'NRestarts'), shown('catalogue@1', 'ExecMainStatus')]).toEqual(['0', '2']);
    expectLogged('catalogue@1', 'the nearest known is port');
    expect(answers('/healthz', 8082, 8083)).toEqual([
      expect.stringContaining('serving'),
      expect.stringContaining('serving'),
    ]);
  });

  test('drains when it is stopped, and exits without a failure', () => {
    expect(machine.run('systemctl stop catalogue@2 catalogue@3')).toEqual({ code: 0, printed: '' });
    for (const i of [2, 3]) {
      const ends = ['Result', 'ActiveState'].map((property) => shown(`catalogue@${i}`, property));
      expect(ends).toEqual(['success', 'inactive']);
      expectLogged(`catalogue@${i}`, 'draining');
    }
  });
});
