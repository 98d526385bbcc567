// Debian's nats-server with JetStream, alone or as a cluster of three. A server keeps its port and its stored data, so
// that it can be killed and restarted. Tests that use it are skipped if it is not installed.
import { type JetStreamManager, jetstreamManager, type StreamInfo } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { steadyPort } from '../../bench/proxy/shippedProxies.ts';
import { type CommandProcess, runProgram } from './commandProcess.ts';
import type { Program } from './debian.ts';

/** The program, for `test.skipIf(!hasProgram(NATS_SERVER))`. */
export const NATS_SERVER: Program = 'nats-server';

/** A running or killed server. */
export interface NatsServer {
  readonly name: string;
  readonly port: number;
  /** The URL of a bucket on this server. */
  bucket(name: string): string;
  /** Kills it with SIGKILL. */
  kill(): Promise<void>;
  /** Makes it hang: its connections stay open, and it does not respond until it resumes. */
  pause(): void;
  resume(): void;
  /** Starts it with its stored data; resolves when it accepts clients. */
  start(): Promise<void>;
  /** All output since its last start. */
  told(): string;
}

/** A server that is not started yet, with a folder inside `parent`; `lines` are added to its configuration. */
export async function natsServer(parent: string, lines: readonly string[] = [], name = 'alone'): Promise<NatsServer> {
  const folder = mkdtempSync(join(parent, 'nats-'));
  const port = await steadyPort();
  const file = join(folder, 'server.conf');
  const own = [`server_name: ${name}`, `listen: "127.0.0.1:${port}"`, `jetstream { store_dir: "${folder}" }`];
  writeFileSync(file, [...own, ...lines, ''].join('\n'));
  let running: CommandProcess | undefined;
  return {
    name,
    port,
    bucket: (bucket) => `nats://127.0.0.1:${port}/${bucket}`,
    kill: async () => running?.kill(),
    pause: () => running?.signal('SIGSTOP'),
    resume: () => running?.signal('SIGCONT'),
    start: async () => {
      running = runProgram(NATS_SERVER, ['-c', file]);
      await running.printed(/Server is ready/);
    },
    told: () => (running ? running.out() + running.err() : ''),
  };
}

/** Three servers that know each other and have chosen a leader. */
export async function natsCluster(parent: string): Promise<readonly NatsServer[]> {
  const ports = [await steadyPort(), await steadyPort(), await steadyPort()];
  const routes = ports.map((port) => `nats-route://127.0.0.1:${port}`).join(', ');
  const servers = await Promise.all(
    ports.map((port, i) => {
      const cluster = `cluster { name: three, listen: "127.0.0.1:${port}", routes: [${routes}] }`;
      return natsServer(parent, [cluster], `n${i + 1}`);
    }),
  );
  await Promise.all(servers.map((server) => server.start()));
  return servers;
}

/**
 * The name of the server that leads the object stream of a bucket. Undefined if there is no leader, or if another copy
 * of the objects or of the pointer is not current, because requests may then get no response.
 */
export async function leaderOf(server: NatsServer, bucket: string): Promise<string | undefined> {
  const clustersOf = ({ streams }: JetStreamManager): Promise<readonly StreamInfo['cluster'][]> =>
    Promise.all([`OBJ_${bucket}`, `KV_${bucket}`].map(async (stream) => (await streams.info(stream)).cluster));
  const clusters = await managed(server, (manager) => clustersOf(manager).catch(() => []));
  // A copy that is not current cannot become leader when this server is gone.
  const isWhole = clusters.every((cluster) => {
    return cluster?.leader && cluster.replicas?.every(({ current, offline }) => current && !offline);
  });
  return isWhole ? clusters[0]?.leader : undefined;
}

/** Returns the result of work on the streams of a server. */
export async function managed<T>({ port }: NatsServer, work: (manager: JetStreamManager) => Promise<T>): Promise<T> {
  const connection = await connect({ servers: `127.0.0.1:${port}` });
  try {
    return await work(await jetstreamManager(connection, { checkAPI: false }));
  } finally {
    await connection.close();
  }
}
