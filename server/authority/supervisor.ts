// The authority as the supervisor has it: loads the configuration, hands it to every serving thread, reloads it as a
// whole or not at all, and gathers the events of all threads. Signs nothing.
import type { AuditFile } from '../observe/log.ts';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { epochSeconds } from '../observe/clock.ts';
import type { Observer, ServiceEvent } from '../observe/events.ts';
import { directoryStamp } from './configuration/files.ts';
import { loadAuthority, type LoadedAuthority, loadedOrThrown } from './configuration/load.ts';
import { mistakeText } from './configuration/mistakes.ts';
import type { AuthorityLink } from './service.ts';

/** The authority of a process. */
export interface AuthoritySupervisor {
  /** The link of one more serving thread; its port must be transferred to it. */
  link(): AuthorityLink;
  /**
   * Loads all files again; answers whether they were taken. With a mistake in them, the configuration stays as it was.
   */
  reload(): boolean;
  /** No reload behind it. The threads close their links themselves. */
  stop(): void;
}

/**
 * How often the directory of CRLs is looked at (A82): they come by clockwork, and a service without current ones
 * refuses all.
 */
export const CRLS_EVERY_MS = 60_000;

/**
 * Loads a configuration file. Throws OperationError `input` with every mistake, a line each. Events of the threads, and
 * of reloads, go to `observe`; decisions are recorded in `auditLog` before, and nothing is granted that cannot be.
 */
export function superviseAuthority(file: string, observe: Observer, auditLog?: AuditFile): AuthoritySupervisor {
  let loaded = loadedOrThrown(file, epochSeconds());
  observe([loadedEvent(loaded)]);
  const ports = new Set<MessagePort>();
  let stamp = loaded.crlStamp;
  const crlStampNow = (): string => (loaded.crlDirectory === undefined ? '' : directoryStamp(loaded.crlDirectory));
  const reload = (): boolean => {
    // A state that is refused is told once, and looked at again when it changes.
    stamp = crlStampNow();
    const loading = loadAuthority(file, epochSeconds());
    if (loading.kind === 'refused') {
      observe([{ kind: 'authorityReloadRefused', at: epochSeconds(), mistakes: loading.mistakes.map(mistakeText) }]);
      return false;
    }
    loaded = loading;
    stamp = loaded.crlStamp;
    for (const port of ports) port.postMessage(loaded.data);
    observe([loadedEvent(loaded)]);
    return true;
  };
  const timer = setInterval(() => {
    if (crlStampNow() !== stamp) reload();
  }, CRLS_EVERY_MS).unref();
  return {
    link() {
      const { port1, port2 } = new MessageChannel();
      ports.add(port1);
      port1.on('message', (events: readonly ServiceEvent[]) => observe(events));
      port1.once('close', () => ports.delete(port1));
      port1.unref();
      return { data: loaded.data, auditLog, port: port2 };
    },
    reload,
    stop: () => clearInterval(timer),
  };
}

function loadedEvent({ data, notes }: LoadedAuthority): ServiceEvent {
  const { siteName, users, hosts } = data;
  return {
    kind: 'authorityLoaded',
    at: epochSeconds(),
    siteName,
    users: users.sets.length,
    hosts: hosts.length,
    notes,
  };
}
