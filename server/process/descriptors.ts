// How many descriptors the process may open, as Linux tells it, and whether they are enough for its settings.
// Looks once, at the start; what happens when they run out later is another's.
import { readFileSync } from 'node:fs';
import { OperationError } from '../../data/operationError.ts';
import { countText } from '../observe/quantities.ts';

/** Measured: 26 for the process, its data and its ports, and 6 for the authority thread. */
const OF_PROCESS = 32;
/** Measured: 11, and 6 for its pool thread; the rest is for what it opens for a moment. */
const OF_THREAD = 28;
/** Fewer connections than this at once are told of. */
const CONNECTIONS_FEW = 256;

/**
 * Throws OperationError `starved` where a server of so many serving threads has no descriptor left for a connection;
 * answers a line for people where it has few. `limit` is undefined where the system does not tell.
 */
export function scarceDescriptors(threads: number, limit: number | undefined): string | undefined {
  if (limit === undefined) return undefined;
  const connections = limit - OF_PROCESS - OF_THREAD * threads;
  const cure = 'raise it (ulimit -n, LimitNOFILE of systemd) or set fewer --threads';
  if (connections <= 0) {
    throw new OperationError(
      'starved',
      `the process may open ${countText(limit)} descriptors, and ${countText(threads)} serving threads need ` +
        `${countText(limit - connections + 1)}: ${cure}`,
    );
  }
  if (connections >= CONNECTIONS_FEW) return undefined;
  return `connections that can be open at once: ${countText(connections)}, since the process may open ${countText(limit)} descriptors: ${cure}`;
}

/** The limit of this process, where Linux tells it. Node has raised it as far as it may. */
export function descriptorLimit(): number | undefined {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}
