// The authority as the supervisor has it: loads the configuration, hands it to every serving thread, reloads it as a whole or not
// at all, and gathers the events of all threads. Signs nothing. Started and stopped by serve.ts.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { OperationError } from '../../data/operationError.ts';
import { epochMs } from '../clock.ts';
import type { Observer, ServiceEvent } from '../observe/events.ts';
import { type AuthorityData, type Loading, loadAuthority } from './configuration/load.ts';
import { mistakeText } from './configuration/mistakes.ts';
import type { AuthorityLink } from './service.ts';

/** The authority of a process. */
export interface AuthoritySupervisor {
  /** The link of one more serving thread; its port must be transferred to it. */
  link(): AuthorityLink;
  /** Loads all files again; answers whether they were taken. With a mistake in them, the configuration stays as it was. */
  reload(): boolean;
  /** No reload behind it. The threads close their links themselves. */
  stop(): void;
}

/** How often the directory of CRLs is looked at (A82): they come by clockwork, and a service without current ones refuses all. */
const CRLS_EVERY_MS = 60_000;

/**
 * Loads a configuration file. Throws OperationError `input` with every mistake, a line each. Events of the threads, and of
 * reloads, go to `observe`.
 */
export function superviseAuthority(file: string, observe: Observer): AuthoritySupervisor {
  let loaded = loadedOrThrown(file);
  observe(loadedEvent(loaded));
  const ports = new Set<MessagePort>();
  let crls = stampOf(loaded.crlDirectory);
  const reload = (): boolean => {
    crls = stampOf(loaded.crlDirectory);
    const loading = loadAuthority(file, now());
    if (loading.kind === 'refused') {
      observe({ kind: 'authorityReloadRefused', at: now(), mistakes: loading.mistakes.map(mistakeText) });
      return false;
    }
    loaded = loading;
    crls = stampOf(loaded.crlDirectory);
    for (const port of ports) port.postMessage(loaded.data);
    observe(loadedEvent(loaded));
    return true;
  };
  const timer = setInterval(() => {
    if (stampOf(loaded.crlDirectory) !== crls) reload();
  }, CRLS_EVERY_MS).unref();
  return {
    link() {
      const { port1, port2 } = new MessageChannel();
      ports.add(port1);
      port1.on('message', (event: ServiceEvent) => observe(event));
      port1.once('close', () => ports.delete(port1));
      port1.unref();
      return { data: loaded.data, port: port2 };
    },
    reload,
    stop: () => clearInterval(timer),
  };
}

type Loaded = Extract<Loading, { readonly kind: 'loaded' }>;

function loadedOrThrown(file: string): Loaded {
  const loading = loadAuthority(file, now());
  if (loading.kind === 'loaded') return loading;
  throw new OperationError('input', loading.mistakes.map(mistakeText).join('\n'));
}

function now(): number {
  return Math.floor(epochMs() / 1000);
}

function loadedEvent({
  data,
  notes,
}: {
  readonly data: AuthorityData;
  readonly notes: readonly string[];
}): ServiceEvent {
  const { siteName, users, hosts } = data;
  return { kind: 'authorityLoaded', at: now(), siteName, users: users.sets.length, hosts: hosts.length, notes };
}

/** What tells two states of a directory apart: names, sizes and times of its files. '' where there is none. */
function stampOf(directory: string | undefined): string {
  if (directory === undefined) return '';
  try {
    return readdirSync(directory)
      .toSorted()
      .map((name) => {
        const { size, mtimeMs } = statSync(join(directory, name));
        return `${name} ${size} ${mtimeMs}`;
      })
      .join('\n');
  } catch {
    // A directory that is gone for a moment is another state, and the reload says what is wrong with it.
    return 'unreadable';
  }
}
