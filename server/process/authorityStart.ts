// The attribute authority of a server: which one the settings ask for, who observes it, and how it is told to reload.
// Composition only.
import { prepareDemonstration, demonstrationDirectory, DEMONSTRATION_FILES } from '../authority/demonstration.ts';
import { COUNTS_EVERY_MS, Recorder } from '../authority/recorded.ts';
import { superviseAuthority, type AuthoritySupervisor } from '../authority/supervisor.ts';
import { epochSeconds } from '../observe/clock.ts';
import type { Settings } from '../settings/declarations.ts';
import { appendingTo, logTo, STANDARD_OUTPUT } from '../observe/log.ts';
import type { Level, Observer, Report, ServiceEvent } from '../observe/events.ts';
import { countText } from '../observe/quantities.ts';
import { join } from 'node:path';

/**
 * Starts the authority that the settings name, or a demonstration where they name none. `count` observes all its
 * events; `report` gets lines for people, and of the audit only what could not be written: that has standard output for
 * itself where no file is set for it. On SIGHUP a configured one reloads its files (A84).
 * Throws OperationError `input` with every mistake of the configuration, and `file`.
 */
export function startAuthority(settings: Settings, report: Report, count: Observer): AuthoritySupervisor {
  const { authority: file } = settings;
  // As of the access log.
  const auditLog = settings.auditLog === '-' ? undefined : settings.auditLog;
  const onLost = (line: string): void => report(line, 'error');
  const log = logTo(appendingTo(auditLog ?? STANDARD_OUTPUT, onLost));
  const recorder = new Recorder(log);
  const observe: Observer = (events) => {
    for (const event of events) {
      for (const line of linesOf(event)) report(line, levelOf(event));
      if (event.kind === 'authorityLoaded') recorder.writeCounts();
      // The signing threads have recorded most decisions. Standard output gets decisions alone.
      if (event.kind !== 'authorisation' && auditLog !== undefined) log([event]);
      if (event.kind === 'authorisation' && !event.isRecorded) recorder.record(event);
    }
    count(events);
  };
  setInterval(() => recorder.writeCounts(), COUNTS_EVERY_MS).unref();
  // Later than `stop`: threads that drain still report refusals.
  process.once('exit', () => recorder.writeCounts());
  if (file !== undefined) return reloadedBySignal(superviseAuthority(file, observe, auditLog ?? STANDARD_OUTPUT));
  const directory = prepareDemonstration(demonstrationDirectory(), epochSeconds());
  report(`the attribute authority is a demonstration, not for real use; what to send it lies in ${directory}`);
  return superviseAuthority(join(directory, DEMONSTRATION_FILES.config), observe, auditLog ?? STANDARD_OUTPUT);
}

function levelOf(event: ServiceEvent): Level {
  const { kind } = event;
  if (kind === 'authorityLoaded' && event.unusableFiles > 0) return 'warn';
  if (kind === 'authorityReloadRefused' || kind === 'authorityExpired') return 'warn';
  return kind === 'authorityBug' ? 'error' : 'info';
}

function linesOf(event: ServiceEvent): readonly string[] {
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

function reloadedBySignal(authority: AuthoritySupervisor): AuthoritySupervisor {
  const onSignal = (): void => void authority.reload();
  process.on('SIGHUP', onSignal);
  const stop = (): void => {
    process.off('SIGHUP', onSignal);
    authority.stop();
  };
  return { ...authority, stop };
}
