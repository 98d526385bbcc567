// The supervisor of the authority: loads the configuration, passes it to the authority thread, and reports what
// expires. Reloads the configuration as a whole or not at all. Restarts the thread if it dies.
import { OperationError } from '../../data/operationError.ts';
import { assertAnswers } from '../../data/timeLimit.ts';
import { epochSeconds, steadyMs } from '../observe/clock.ts';
import type { Observer, ServiceEvent } from '../observe/events.ts';
import type { AuditFile } from '../observe/log.ts';
import { listExpiries, firstExpiries } from './configuration/expiries.ts';
import { directoryStamp, mistakeText } from './configuration/files.ts';
import {
  type AuthorityData,
  type AuthorityLoading,
  tryLoadAuthority,
  type LoadedAuthority,
  loadOrThrow,
} from './configuration/load.ts';
import type { AuthorityLink } from './client.ts';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { isStarved, type OnLostThread } from '../../workers/starvation.ts';
import { type AuthorityReport, type AuthorityStart, newBacklog, type ToAuthority } from './authority.ts';

export type AuthoritySupervisor = ReturnType<typeof superviseAuthority>;

/** Interval between checks of the CRL directory (A82). */
export const CRLS_EVERY_MS = 60_000;

/** Throws OperationError `input` with all errors, one per line. `now` returns whole seconds since 1970. */
export function superviseAuthority(
  file: string,
  audit: AuditFile,
  hearers: AuthorityListeners,
  now: () => number = epochSeconds,
) {
  let loadedAt = now();
  let loaded = loadOrThrow(file, loadedAt);
  let notes = notesAt(loaded, loadedAt);
  /** The errors of a configuration that was refused later. */
  let refusal: { readonly at: number; readonly mistakes: readonly string[] } | undefined;
  const thread = new RunningThread(loaded.data, audit, hearers);
  const observe = (events: readonly ServiceEvent[]): void => {
    hearers.observe(events);
    thread.audit(events);
  };
  observe([loadedEvent(loaded)]);
  let isOwed = false;
  const reload = (): Promise<boolean> => load(() => true);
  /** Loads all files. `isReported` gets the errors and returns whether to report them. */
  const load = async (isReported: (mistakes: readonly string[]) => boolean): Promise<boolean> => {
    const at = now();
    const loading = await tryLoading(file, at);
    if (loading.kind === 'refused') {
      const mistakes = loading.mistakes.map(mistakeText);
      const isNews = isReported(mistakes);
      refusal = { at, mistakes };
      if (isNews) observe([{ kind: 'authorityReloadRefused', ...refusal }]);
      return false;
    }
    [loaded, loadedAt, notes, refusal] = [loading, at, notesAt(loading, at), undefined];
    isOwed = false;
    thread.configure(loaded.data);
    observe([loadedEvent(loaded)]);
    return true;
  };
  const reportExpired = (): void => {
    const at = now();
    const expired = expiredNotes(loaded, at);
    const unreported = exclude(expired, notes.expired);
    notes = { ...notes, expired: [...notes.expired.filter((note) => expired.includes(note)), ...unreported] };
    if (unreported.length > 0) observe(unreported.map((note) => ({ kind: 'authorityExpired', at, note })));
  };
  // After a failed load of new CRLs, every check tries again until it succeeds. The same errors are reported once.
  const areNew = (mistakes: readonly string[]): boolean => mistakes.join('\n') !== refusal?.mistakes.join('\n');
  const poll = async (): Promise<void> => {
    if (isOwed || (await haveCrlsChanged(loaded))) isOwed = !(await load(areNew));
    reportExpired();
  };
  const timer = setInterval(() => void poll(), CRLS_EVERY_MS).unref();
  return {
    /** The link for one more serving thread. Its port must be transferred to the thread. */
    link: (): AuthorityLink => thread.link(),
    /** Reloads all files. Resolves to whether it succeeded; an invalid configuration changes nothing. */
    reload,
    /** Reloads all files if the CRLs have changed, and reports what has expired. Also runs every CRLS_EVERY_MS. */
    look: poll,
    /** Times are in seconds since 1970. */
    status: () => ({
      ...makeStatus(loaded, now()),
      loadedAt,
      notes: [...notes.lasting, ...notes.expired],
      refused: refusal,
    }),
    /** Ends the authority thread. The serving threads must have ended: waiting messages get no reply. */
    stop(): Promise<void> {
      clearInterval(timer);
      return thread.stop();
    },
  };
}

/** Also true if the directory does not respond: the load that follows reports it. */
async function haveCrlsChanged({ crlDirectory, crlStamp }: LoadedAuthority): Promise<boolean> {
  if (crlDirectory === undefined) return false;
  const stamp = assertAnswers(crlDirectory).then(() => directoryStamp(crlDirectory));
  return (await stamp.catch(() => undefined)) !== crlStamp;
}

async function tryLoading(file: string, at: number): Promise<AuthorityLoading> {
  try {
    return await tryLoadAuthority(file, at);
  } catch (error) {
    if (error instanceof OperationError) return { kind: 'refused', mistakes: [{ file, message: error.message }] };
    throw error;
  }
}

/**
 * The notes of a configuration: the permanent ones, and those about what had expired when it was loaded, which may
 * disappear.
 */
function notesAt(loaded: LoadedAuthority, at: number): Readonly<Record<'lasting' | 'expired', readonly string[]>> {
  const expired = expiredNotes(loaded, at);
  return { lasting: exclude(loaded.notes, expired), expired };
}

function expiredNotes({ data, expirySource }: LoadedAuthority, at: number): readonly string[] {
  const end = at - data.clockSkewSeconds;
  const expired = listExpiries(expirySource, at).filter((expiry) => expiry.at < end);
  return [...new Set(expired.map(({ note }) => note))];
}

function exclude(notes: readonly string[], others: readonly string[]): readonly string[] {
  return notes.filter((note) => !others.includes(note));
}

function makeStatus({ data: { siteName, users, hosts }, unusableFiles, expirySource }: LoadedAuthority, at: number) {
  const expires = firstExpiries(listExpiries(expirySource, at));
  return { siteName, users: users.size, trustedHosts: hosts.length, unusableFiles, expires };
}

function loadedEvent({ data, notes, unusableFiles }: LoadedAuthority): ServiceEvent {
  const { siteName, users, hosts } = data;
  return {
    kind: 'authorityLoaded',
    at: epochSeconds(),
    siteName,
    users: users.size,
    hosts: hosts.length,
    unusableFiles,
    notes,
  };
}

/** Limit of starts per minute, so that a thread that dies at once does not use up the CPU. */
const STARTS_MAX = 5;
const MINUTE_MS = 60_000;

export interface AuthorityListeners {
  readonly observe: Observer;
  /** Receives a sentence about each line that could not be written to the audit log. */
  readonly onUnwritten: (sentence: string) => void;
  readonly onLostThread: OnLostThread;
}

class RunningThread {
  readonly #audit: AuditFile;
  readonly #hearers: AuthorityListeners;
  readonly #backlog = newBacklog();
  readonly #links = new Set<MessagePort>();
  readonly #stopped = Promise.withResolvers<void>();
  #data: AuthorityData;
  #worker: Worker | undefined;
  #isStopping = false;
  #startsMs: readonly number[] = [];

  constructor(data: AuthorityData, audit: AuditFile, hearers: AuthorityListeners) {
    this.#data = data;
    this.#audit = audit;
    this.#hearers = hearers;
    this.#start();
  }

  link(): AuthorityLink {
    const { port1, port2 } = new MessageChannel();
    this.#links.add(port1);
    port1.once('close', () => this.#links.delete(port1));
    port1.unref();
    this.#connect(port1);
    return { port: port2, backlog: this.#backlog };
  }

  configure(data: AuthorityData): void {
    this.#data = data;
    this.#post({ kind: 'data', data });
  }

  /** Writes events to the audit log if that is a file. Standard output gets decisions only. */
  audit(events: readonly ServiceEvent[]): void {
    if (typeof this.#audit === 'string') this.#post({ kind: 'audit', events });
  }

  /** Resolves when the thread has written its counts and ended. */
  stop(): Promise<void> {
    this.#isStopping = true;
    this.#post({ kind: 'end' });
    return this.#worker ? this.#stopped.promise : Promise.resolve();
  }

  #post(message: ToAuthority, transferred: readonly MessagePort[] = []): void {
    this.#worker?.postMessage(message, transferred);
  }

  #connect(link: MessagePort): void {
    if (!this.#worker) return;
    const { port1, port2 } = new MessageChannel();
    this.#post({ kind: 'link', port: port1 }, [port1]);
    link.postMessage(port2, [port2]);
  }

  #start(): void {
    if (this.#isStopping) return;
    this.#startsMs = [...this.#startsMs, steadyMs()].slice(-STARTS_MAX);
    const workerData: AuthorityStart = { data: this.#data, audit: this.#audit };
    let failure: unknown;
    try {
      const worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData });
      this.#worker = worker;
      worker.on('message', ({ events, unwritten }: AuthorityReport) => {
        this.#hearers.observe(events);
        unwritten.forEach(this.#hearers.onUnwritten);
      });
      worker.once('error', (error) => (failure = error));
      worker.once('exit', (code) => {
        this.#ended(failure ?? new Error(`the authority thread ended by itself, with code ${code}`));
      });
      for (const link of this.#links) this.#connect(link);
    } catch (error) {
      this.#ended(error);
    }
  }

  #ended(error: unknown): void {
    this.#worker = undefined;
    this.#stopped.resolve();
    if (this.#isStopping) return;
    this.#hearers.onLostThread(error, isStarved(error));
    const waitMs = this.#startsMs.length < STARTS_MAX ? 0 : this.#startsMs[0]! + MINUTE_MS - steadyMs();
    setTimeout(() => this.#start(), Math.max(0, waitMs)).unref();
  }
}
