// The supervisor of the authority: it loads the configuration, gives it to the authority thread, loads it again as a
// whole or not at all, and reports what expires meanwhile.
import { OperationError } from '../../data/operationError.ts';
import { assertAnswers } from '../../data/timeLimit.ts';
import { epochSeconds } from '../observe/clock.ts';
import type { ServiceEvent } from '../observe/events.ts';
import type { AuditFile } from '../observe/log.ts';
import { expiriesOf, type Expiry, firstExpiries } from './configuration/expiries.ts';
import { directoryStamp } from './configuration/files.ts';
import { type AuthorityLoading, loadAnswering, type LoadedAuthority, loadedOrThrown } from './configuration/load.ts';
import { mistakeText } from './configuration/mistakes.ts';
import type { AuthorityLink } from './client.ts';
import { type AuthorityHearers, RunningThread } from './runningThread.ts';

/** The authority of a process. */
export interface AuthoritySupervisor {
  /** The link of one more serving thread; its port must be transferred to it. */
  link(): AuthorityLink;
  /**
   * Loads all files again; resolves to whether that succeeded. A mistake leaves the configuration as it was.
   */
  reload(): Promise<boolean>;
  /** Loads all files again if the CRLs have changed, and reports what has expired; also called each CRLS_EVERY_MS. */
  look(): Promise<void>;
  /** How it is now, for operators. */
  status(): AuthorityStatus;
  /** Ends the authority thread. The serving threads have ended before: a message that waits gets no reply. */
  stop(): Promise<void>;
}

/**
 * The configuration that answers: since when, what operators should know of it, and when the first of each kind runs
 * out. `refused` has the mistakes of a later one that was not taken. Times are in seconds since 1970.
 */
export interface AuthorityStatus {
  readonly siteName: string;
  readonly loadedAt: number;
  readonly users: number;
  readonly trustedHosts: number;
  readonly notes: readonly string[];
  readonly unusableFiles: number;
  readonly expires: Readonly<Partial<Record<Expiry['what'], number>>>;
  readonly refused: { readonly at: number; readonly mistakes: readonly string[] } | undefined;
}

/**
 * How often the directory of CRLs is looked at (A82): they come by clockwork, and a service without current ones
 * refuses all.
 */
export const CRLS_EVERY_MS = 60_000;

/**
 * Loads a configuration file and starts the authority thread. Throws OperationError `input` with every mistake, a line
 * each. `now` is in whole seconds since 1970.
 */
export function superviseAuthority(
  file: string,
  audit: AuditFile,
  hearers: AuthorityHearers,
  now: () => number = epochSeconds,
): AuthoritySupervisor {
  let loadedAt = now();
  let loaded = loadedOrThrown(file, loadedAt);
  let notes = notesAt(loaded, loadedAt);
  let refused: AuthorityStatus['refused'];
  const thread = new RunningThread(loaded.data, audit, hearers);
  const observe = (events: readonly ServiceEvent[]): void => {
    hearers.observe(events);
    thread.audit(events);
  };
  observe([loadedEvent(loaded)]);
  let isOwed = false;
  const reload = (): Promise<boolean> => load(() => true);
  /** Loads all; mistakes are told where they are to be, which gets those told last. */
  const load = async (isTold: (mistakes: readonly string[]) => boolean): Promise<boolean> => {
    const at = now();
    const loading = await attempted(file, at);
    if (loading.kind === 'refused') {
      const mistakes = loading.mistakes.map(mistakeText);
      const isNews = isTold(mistakes);
      refused = { at, mistakes };
      if (isNews) observe([{ kind: 'authorityReloadRefused', ...refused }]);
      return false;
    }
    [loaded, loadedAt, notes, refused] = [loading, at, notesAt(loading, at), undefined];
    isOwed = false;
    thread.configure(loaded.data);
    observe([loadedEvent(loaded)]);
    return true;
  };
  const tellExpired = (): void => {
    const at = now();
    const expired = expiredNotes(loaded, at);
    const untold = without(expired, notes.expired);
    notes = { ...notes, expired: [...notes.expired.filter((note) => expired.includes(note)), ...untold] };
    if (untold.length > 0) observe(untold.map((note) => ({ kind: 'authorityExpired', at, note })));
  };
  // Whatever mistake keeps new CRLs out, they are tried again until they are in; the same mistakes are told once.
  const areOthers = (mistakes: readonly string[]): boolean => mistakes.join('\n') !== refused?.mistakes.join('\n');
  const look = async (): Promise<void> => {
    if (isOwed || (await haveCrlsChanged(loaded))) isOwed = !(await load(areOthers));
    tellExpired();
  };
  const timer = setInterval(() => void look(), CRLS_EVERY_MS).unref();
  return {
    link: () => thread.link(),
    reload,
    look,
    status: () => ({ ...statusOf(loaded, now()), loadedAt, notes: [...notes.lasting, ...notes.expired], refused }),
    stop() {
      clearInterval(timer);
      return thread.stop();
    },
  };
}

/** Also true if their directory does not answer: the load that follows reports it. */
async function haveCrlsChanged({ crlDirectory, crlStamp }: LoadedAuthority): Promise<boolean> {
  if (crlDirectory === undefined) return false;
  const stamp = assertAnswers(crlDirectory).then(() => directoryStamp(crlDirectory));
  return (await stamp.catch(() => undefined)) !== crlStamp;
}

async function attempted(file: string, at: number): Promise<AuthorityLoading> {
  try {
    return await loadAnswering(file, at);
  } catch (error) {
    if (error instanceof OperationError) return { kind: 'refused', mistakes: [{ file, message: error.message }] };
    throw error;
  }
}

/** What is to be known of a configuration: for good, and what had run out when it was loaded, which may end. */
function notesAt(loaded: LoadedAuthority, at: number): Readonly<Record<'lasting' | 'expired', readonly string[]>> {
  const expired = expiredNotes(loaded, at);
  return { lasting: without(loaded.notes, expired), expired };
}

/** What has run out at a time, each once. */
function expiredNotes({ data, expirySource }: LoadedAuthority, at: number): readonly string[] {
  const end = at - data.clockSkewSeconds;
  const expired = expiriesOf(expirySource, at).filter((expiry) => expiry.at < end);
  return [...new Set(expired.map(({ note }) => note))];
}

function without(notes: readonly string[], others: readonly string[]): readonly string[] {
  return notes.filter((note) => !others.includes(note));
}

function statusOf(
  { data: { siteName, users, hosts }, unusableFiles, expirySource }: LoadedAuthority,
  at: number,
): Pick<AuthorityStatus, 'siteName' | 'users' | 'trustedHosts' | 'unusableFiles' | 'expires'> {
  const expires = firstExpiries(expiriesOf(expirySource, at));
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
