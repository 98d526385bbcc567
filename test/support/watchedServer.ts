// A server whose threads a test can end, and what it says and answers meanwhile.
// Over the public port, the admin port, and its output.
import { clientOf } from './client.ts';
import { type Addresses, type CommandProcess, runServer } from './commandProcess.ts';
import { type Killer, killerIn } from './killer.ts';

/** A server that runs, and where its admin port is. */
export interface WatchedServer extends CommandProcess, Addresses {
  readonly adminUrl: string;
}

/** One, and what ends its threads. */
export interface KillableServer {
  readonly killer: Killer;
  readonly server: WatchedServer;
}

/** Starts one; `node` are flags of Node. */
export async function runWatchedServer(words: readonly string[], node: readonly string[]): Promise<WatchedServer> {
  const server = await runServer(['--gzip', 'live', '--admin-port', '0', ...words], { node });
  const [, adminUrl] = await server.printed(/admin on (http:\S+)\/status/);
  return { ...server, adminUrl: adminUrl! };
}

/** Starts one with a killer, whose files lie in a directory. */
export async function killableServer(directory: string, words: readonly string[]): Promise<KillableServer> {
  const killer = killerIn(directory);
  return { killer, server: await runWatchedServer(words, killer.node) };
}

/** What one request on a connection of its own gets: a status, or that there is none. */
export async function statusOf(
  url: string,
  path = '/healthz',
  headers: Readonly<Record<string, string>> = {},
): Promise<number | 'none'> {
  const client = clientOf(url);
  try {
    return (await client.get(path, headers)).status;
  } catch {
    return 'none';
  } finally {
    client.close();
  }
}

/** The value of a metric of ours, told by its name and labels as it stands in the text. */
export async function metricOf({ adminUrl }: WatchedServer, name: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`catalogue_replica_${name} `));
  return Number(line?.split(' ')[1]);
}
