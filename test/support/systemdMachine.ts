// A machine with systemd, where this one can be made into it: a boot in namespaces of its own over a copy of all files,
// so that units and users are added, started and gone again without a trace. Wants root, Linux, and systemd's programs.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type CommandProcess, runProgram } from './commandProcess.ts';
import { hasProgram } from './debian.ts';

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
export interface SystemdMachine {
  /** What a program has to be called with to run there: a program, and its first words. */
  readonly inside: readonly [program: string, ...words: string[]];
  /** What a shell prints there to its two outputs, and its code. */
  readonly run: (script: string) => Said;
  /** Ends the machine and all that runs there. */
  readonly stop: () => Promise<void>;
}

/** Whether namespaces can be made, and the programs and a Node for services are installed. Cost: a process. */
export function canBoot(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const wanted = ['systemd-analyze', 'ip', 'pgrep', 'nsenter'] as const;
  if (!wanted.every((name) => hasProgram(name)) || !['/usr/local/bin/node', '/usr/bin/node'].some(existsSync))
    return false;
  if (cgroupFolder() === undefined) return false;
  const probe = 'test -x /lib/systemd/systemd && mount -t tmpfs tmpfs /mnt';
  return spawnSync('unshare', [...OWN, 'sh', '-c', probe]).status === 0;
}

/** Boots a machine in which the folders `shared` are those of here: 1 s. Throws where it is not up in a minute. */
export async function bootSystemd(...shared: readonly string[]): Promise<SystemdMachine> {
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

/** Waits until all that is started at a boot runs. */
async function up(run: SystemdMachine['run']): Promise<void> {
  for (let ms = 0; ms < BOOTED_MS_MAX; ms += EACH_MS) {
    if (run('systemctl is-system-running').printed.trim() === 'running') return;
    await delay(EACH_MS);
  }
  throw new Error(run('systemctl is-system-running; systemctl --failed --no-pager').printed);
}

/** The folder of the second version of control groups, undefined where there is none. */
function cgroupFolder(): string | undefined {
  const { stdout } = spawnSync('findmnt', ['-n', '-o', 'TARGET', '-t', 'cgroup2'], { encoding: 'utf8' });
  return stdout.split('\n').find((line) => line !== '');
}

/** The first process of the machine, by its number here: the one child of what made the namespaces. */
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

/** Removes a control group and those below it, once their processes have ended. */
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
