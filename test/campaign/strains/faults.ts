// Operational faults, each injected into a separate server with the same data: killed and restarted, stopped for a
// while, out of descriptors, on a full disk, under a clock that jumps. The oracle verifies the server before and after.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { importDirectory } from '../../../data/import/import.ts';
import { OperationError } from '../../../data/operationError.ts';
import { runServer } from '../../support/commandProcess.ts';
import { hasProgram } from '../../support/debian.ts';
import { finalWords, type Victim } from '../../support/fuzz.ts';
import type { Random } from '../../support/random.ts';
import { RawSocket } from '../../support/rawSocket.ts';
import { smallDisk, type SmallDisk } from '../../support/smallDisk.ts';
import { outcomeOf, type Strain } from '../strain.ts';
import type { World } from '../world.ts';
import { verifySome } from './heads.ts';

const VERIFIED = 8;
const PAUSE_MS_MAX = 400;
const REFUSED_CONNECTIONS = 30;

interface Fault {
  readonly name: string;
  readonly isPossible: boolean;
  /** Injects the fault into a running server. Returns what is wrong. */
  does(random: Random, server: Victim, world: World): Promise<readonly string[]>;
}

/** The clock is wrong by up to ten days either way, and changes every 50 ms. */
const CLOCK = `const now = Date.now;
let off = 0;
Date.now = () => now() + off;
setInterval(() => (off = (Math.random() - 0.5) * 20 * 86_400_000), 50).unref();`;

const FAULTS: readonly Fault[] = [
  {
    name: 'kill',
    isPossible: true,
    does: async (random, server, world) => {
      const asked = verifySome(random, world, VERIFIED, server);
      await delay(random.integer(0, PAUSE_MS_MAX / 4));
      await server.kill();
      // Only requests that were in progress may be lost.
      const wrong = await asked;
      const unexpected = wrong.filter((fault) => !/ECONNRESET|ECONNREFUSED|EPIPE|socket hang up|aborted/.test(fault));
      const next = await serverOf(world);
      try {
        return [...unexpected, ...(await verifySome(random, world, VERIFIED, next))];
      } finally {
        await next.kill();
      }
    },
  },
  {
    name: 'stop',
    isPossible: true,
    does: async (random, server, world) => {
      server.signal('SIGSTOP');
      const asked = verifySome(random, world, VERIFIED, server);
      await delay(random.integer(0, PAUSE_MS_MAX));
      server.signal('SIGCONT');
      return asked;
    },
  },
  {
    name: 'descriptors',
    isPossible: process.platform === 'linux' && hasProgram('prlimit'),
    does: async (random, server, world) => {
      const before = softLimitOf(server.pid);
      const limit = (most: string): void => void execFileSync('prlimit', [`--pid=${server.pid}`, `--nofile=${most}:`]);
      limit(`${readdirSync(`/proc/${server.pid}/fd`).length}`);
      const sockets = await Promise.all(
        Array.from({ length: REFUSED_CONNECTIONS }, (_, i) =>
          RawSocket.open(i % 2 ? server.port : server.http10Port).catch(() => undefined),
        ),
      );
      await delay(random.integer(0, PAUSE_MS_MAX));
      for (const socket of sockets) socket?.vanish();
      limit(before);
      await delay(PAUSE_MS_MAX);
      return verifySome(random, world, VERIFIED, server);
    },
  },
  {
    name: 'disk',
    isPossible: process.platform === 'linux' && process.getuid?.() === 0,
    does: async (random, _, world) => {
      const disk = smallDisk(world.directory);
      if (!disk) return [];
      try {
        return await onFullDisk(random, world, disk);
      } finally {
        disk.unmount();
      }
    },
  },
  {
    name: 'clock',
    isPossible: true,
    does: async (random, _, world) => {
      const preload = join(world.directory, 'clock.mjs');
      writeFileSync(preload, CLOCK);
      const server = await serverOf(world, ['--import', preload]);
      try {
        const wrong = await verifySome(random, world, 4 * VERIFIED, server);
        const { code, complaints } = await finalWords(server);
        return code === 0 ? [...wrong, ...complaints] : [...wrong, `ended with ${code}: ${server.err()}`];
      } finally {
        await server.kill();
      }
    },
  },
];

/**
 * Serves a snapshot from a disk without room. An import onto that disk is refused and leaves nothing, or is complete.
 */
async function onFullDisk(random: Random, world: World, disk: SmallDisk): Promise<readonly string[]> {
  const finds: string[] = [];
  const file = join(disk.folder, 'served.snapshot');
  const { size } = statSync(world.snapshot);
  const room = statfsSync(disk.folder);
  if (size > (room.bavail * room.bsize) / 2) return finds;
  copyFileSync(world.snapshot, file);
  disk.fill(random.integer(0, 2 * size));
  const server = await runServer(['--data', file, ...world.flags]);
  try {
    finds.push(...(await verifySome(random, world, VERIFIED, server)));
    const made = join(disk.folder, 'made.snapshot');
    const options = { directory: join(world.directory, 'source'), created: undefined, isLenient: false, threads: 0 };
    const end = await importDirectory({ ...options, file: made }, () => undefined).then(
      () => 'done',
      (error: unknown) => (error instanceof OperationError ? 'refused' : String(error)),
    );
    const isThere = existsSync(made);
    if (end !== (isThere ? 'done' : 'refused')) finds.push(`an import ended with: ${end}; ${made}: ${isThere}`);
    if (isThere && !readFileSync(made).equals(readFileSync(world.snapshot))) finds.push(`${made} is another one`);
    finds.push(...(await verifySome(random, world, VERIFIED, server)));
  } finally {
    await server.kill();
  }
  return finds;
}

/** One operational fault per turn. */
export const faults: Strain = {
  name: 'faults',
  run: async (random, world) => {
    const { name, does } = random.pick(FAULTS.filter(({ isPossible }) => isPossible));
    const server = await serverOf(world);
    try {
      const finds = [...(await verifySome(random, world, VERIFIED, server)), ...(await does(random, server, world))];
      const verified = world.dataSet ? 4 * VERIFIED : 0;
      return outcomeOf({ verified, injected: 1, finds: finds.map((find) => `${name}: ${find}`) });
    } finally {
      await server.kill();
    }
  },
};

function serverOf({ snapshot, flags }: World, node: readonly string[] = []): Promise<Victim> {
  return runServer(['--data', snapshot, ...flags], { node });
}

function softLimitOf(pid: number): string {
  return /^Max open files +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'latin1'))![1]!;
}
