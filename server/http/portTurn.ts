// Turns at a port: of all processes of this program on a machine, one at a time takes or gives up what it holds of it.
// A socket in Linux's abstract namespace is the token: it leaves no file, is gone with its process however that ends,
// and is seen where the port is seen, in the same network namespace. Elsewhere nobody waits for anybody.
import { createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { portRefused } from './ports.ts';

/** So many tries, 30 s: threads that have read the program open their data and listen in far less. */
const TRIES_MAX = 1500;
const RETRY_MS = 20;

/**
 * Runs `change` while no other process of this program is in such a turn at `port`, and gives its result. Throws what
 * `change` throws, and OperationError `port` after 30 s of waiting, as where another is stopped in the middle of it.
 */
export async function inTurnAt<T>(host: string, port: number, change: () => Promise<T>): Promise<T> {
  const token = process.platform === 'linux' ? await tokenOf(host, port) : undefined;
  try {
    return await change();
  } finally {
    token?.close();
  }
}

/** Undefined where the system has no such names to give, as for want of a descriptor: who comes next will say why. */
async function tokenOf(host: string, port: number): Promise<Server | undefined> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const { token, code } = await listening(`\0catalogue-replica port ${port}`);
    if (code !== 'EADDRINUSE') return token;
    await delay(RETRY_MS);
  }
  throw portRefused(host, port, { code: 'EADDRINUSE' }, undefined, ' by another start that does not end: stop it');
}

function listening(path: string): Promise<{ readonly token?: Server; readonly code?: string | undefined }> {
  // Nobody has anything to say here.
  const token = createServer((socket) => socket.destroy());
  return new Promise((resolve) => {
    token.once('error', ({ code }: NodeJS.ErrnoException) => resolve({ code }));
    token.listen(path, () => resolve({ token }));
  });
}
