// Starts the attribute authority that the settings name, logs its events and reloads it on SIGHUP.
import { DEMONSTRATION_FILES, demonstrationDirectory, prepareDemonstration } from '../authority/demonstration.ts';
import { type AuthoritySupervisor, superviseAuthority } from '../authority/supervisor.ts';
import { epochSeconds } from '../observe/clock.ts';
import type { Settings } from '../settings/declarations.ts';
import { assertAuditFile, STANDARD_OUTPUT } from '../observe/log.ts';
import type { Level, Observer, Report, ServiceEvent } from '../observe/events.ts';
import { countText } from '../observe/quantities.ts';
import type { OnLostThread } from '../../workers/starvation.ts';
import { join } from 'node:path';

export interface AuthorityObservers {
  /** Gets log lines. */
  readonly report: Report;
  /** Gets every event, for the metrics. */
  readonly count: Observer;
  readonly onLostThread: OnLostThread;
}

/** `notice`: a line to log after the data. */
export type StartedAuthority = AuthoritySupervisor & { readonly notice?: string };

/**
 * A configured authority reloads on SIGHUP (A84); the demonstration does not. Throws OperationError `input`, which
 * lists all errors, or `file`.
 */
export function startAuthority(
  { authority: file, auditLog = '-' }: Settings,
  { report, count, onLostThread }: AuthorityObservers,
): StartedAuthority {
  // Standard output is the default, as for the access log.
  const audit = auditLog === '-' ? STANDARD_OUTPUT : auditLog;
  assertAuditFile(audit);
  const observe: Observer = (events) => {
    for (const event of events)
      if (file !== undefined || chooseLevel(event) !== 'info')
        for (const line of renderLines(event)) report(line, chooseLevel(event));
    count(events);
  };
  const hearers = { observe, onUnwritten: (sentence: string) => report(sentence, 'error'), onLostThread };
  if (file !== undefined) return reloadOnSignal(superviseAuthority(file, audit, hearers));
  const directory = prepareDemonstration(demonstrationDirectory(), epochSeconds());
  const notice = `attribute authority: a demonstration, not for real use; requests for it are in ${directory}`;
  return { ...superviseAuthority(join(directory, DEMONSTRATION_FILES.config), audit, hearers), notice };
}

function chooseLevel(event: ServiceEvent): Level {
  const { kind } = event;
  if (kind === 'authorityLoaded' && event.unusableFiles > 0) return 'warn';
  if (kind === 'authorityReloadRefused' || kind === 'authorityExpired') return 'warn';
  return kind === 'authorityBug' ? 'error' : 'info';
}

function renderLines(event: ServiceEvent): readonly string[] {
  if (event.kind === 'authorityLoaded') {
    const { siteName, users, hosts, notes } = event;
    const loaded = `attribute authority ${siteName} (users: ${countText(users)}, trusted hosts: ${countText(hosts)})`;
    return [loaded, ...notes.map((note) => `attribute authority: ${note}`)];
  }
  if (event.kind === 'authorityReloadRefused') {
    return ['attribute authority: not reloaded, the configuration before goes on', ...event.mistakes];
  }
  if (event.kind === 'authorityExpired') return [`attribute authority: ${event.note}`];
  return event.kind === 'authorityBug' ? [`a request met a bug, please report it: ${event.stack}`] : [];
}

function reloadOnSignal(authority: AuthoritySupervisor): AuthoritySupervisor {
  const onSignal = (): void => void authority.reload();
  process.on('SIGHUP', onSignal);
  const stop = (): Promise<void> => {
    process.off('SIGHUP', onSignal);
    return authority.stop();
  };
  return { ...authority, stop };
}
