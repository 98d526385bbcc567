// The machine as one finds it who has installed nothing of this project: the PATH to its own Node and npm, and what npm
// says where it cannot reach a registry.
import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The PATH without the Node of this project, where there is another one. */
export function machinePath(): string {
  const path = process.env['PATH'] ?? '';
  const own = path.split(delimiter).filter((folder) => !folder.includes('node_modules'));
  return own.some((folder) => isExecutable(join(folder, 'node'))) ? own.join(delimiter) : path;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether npm failed since no registry answers, by what it printed. */
export function isOutOfReach(printed: string): boolean {
  return /npm error (?:code|errno) (?:E(?:NOTFOUND|AI_AGAIN|CONN\w+|TIMEDOUT|NETUNREACH)|ERR_SOCKET_TIMEOUT)/.test(
    printed,
  );
}

/** What npm knows of the machine, though HOME is another: its settings, and its cache, which it asks first. */
export function npmOfMachine(): Readonly<Record<string, string>> {
  const configured = (key: string): string => execFileSync('npm', ['config', 'get', key], { encoding: 'utf8' }).trim();
  const [cache, userconfig] = [configured('cache'), configured('userconfig')];
  return { npm_config_cache: cache, npm_config_userconfig: userconfig, npm_config_prefer_offline: 'true' };
}
