// The machine of a user who has installed nothing of this project: the PATH to its own Node and npm, and npm's errors
// if no registry is reachable.
import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The PATH without the Node of this project, if it has another one. */
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

/** Whether npm's output shows that no registry responded. */
export function isOutOfReach(printed: string): boolean {
  return /npm error (?:code|errno) (?:E(?:NOTFOUND|AI_AGAIN|CONN\w+|TIMEDOUT|NETUNREACH)|ERR_SOCKET_TIMEOUT)/.test(
    printed,
  );
}

/** npm's settings and cache of this machine, which stay valid although HOME is another. npm asks the cache first. */
export function npmOfMachine(): Readonly<Record<string, string>> {
  const configured = (key: string): string => execFileSync('npm', ['config', 'get', key], { encoding: 'utf8' }).trim();
  const [cache, userconfig] = [configured('cache'), configured('userconfig')];
  return { npm_config_cache: cache, npm_config_userconfig: userconfig, npm_config_prefer_offline: 'true' };
}
