// The machine as one finds it who has installed nothing of this project: the PATH to its own Node and npm, and what npm
// says where it cannot reach a registry.
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
