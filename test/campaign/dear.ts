// Measures how long other clients wait during the most expensive legal heads. For each kind: the longest wait of the
// watching client during one such request and during sixty at once, over both transports. Prints nothing itself.
import { WAIT_TRIES, type WatchedKind } from './report.ts';
import { ALONE, CROWD, KINDS, sendDear } from './strains/dearHeads.ts';
import { type World, worldOf, type WorldOptions } from './world.ts';

/**
 * The world, and the callback that receives each kind. If `isOver` returns true, the run ends after the current kind.
 */
export interface DearOptions extends WorldOptions {
  readonly isOver: () => boolean;
  readonly onWorld: () => void;
  readonly onKind: (kind: WatchedKind) => void;
}

/** Measures all kinds. Throws if a response is incomplete or reports a bug. */
export async function dearWaits(options: DearOptions): Promise<readonly WatchedKind[]> {
  const world = await worldOf(options);
  const kinds: WatchedKind[] = [];
  try {
    options.onWorld();
    const ports = [world.server.port, world.server.http10Port] as const;
    for (const name of KINDS) {
      if (options.isOver()) break;
      // Excludes the time to load code on the first request of a kind.
      for (const port of ports) await sendDear(port, name, 1);
      const waits = async (port: number) => ({
        alone: await leastWait(world, () => inTurn(port, name)),
        crowd: await leastWait(world, () => sendDear(port, name, CROWD)),
      });
      const kind = { name, uws: await waits(ports[0]), node: await waits(ports[1]) };
      options.onKind(kind);
      kinds.push(kind);
    }
    return kinds;
  } catch (error) {
    // A terminal's Ctrl-C stops the server too.
    if (options.isOver()) return kinds;
    throw error;
  } finally {
    await world.close();
  }
}

/** Sends the requests one after another, so that the watching client's requests overlap some of them. */
async function inTurn(port: number, name: string): Promise<readonly string[]> {
  const faults: string[] = [];
  for (let i = 0; i < ALONE; i++) faults.push(...(await sendDear(port, name, 1)));
  return faults;
}

async function leastWait({ watcher }: World, send: () => Promise<readonly string[]>): Promise<number> {
  const waits: number[] = [];
  while (waits.length < WAIT_TRIES) {
    await watcher.look();
    const faults = await send();
    if (faults.length > 0) throw new Error(faults.join('; '));
    const { asked, worstMs } = await watcher.look();
    if (asked > 0) waits.push(worstMs);
  }
  return Math.min(...waits);
}
