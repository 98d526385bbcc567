// The watch of a serving thread: who counts its requests and who logs them, as far as somebody asked for it. Each part
// is read only then.
import type { Watch } from '../http/listener.ts';
import { steadyMs } from '../observe/clock.ts';
import { accessWatch } from './accessWatch.ts';
import type { ServingData } from './messages.ts';
import { countingWatch } from './requestWatch.ts';

/** A watch, and how it ends: what is logged and waits for the disk is written. */
export interface ThreadWatch {
  readonly watch: Watch;
  close(): Promise<void>;
}

/** The watch that the data of a thread asks for, or undefined: then a request pays nothing. */
export async function threadWatch({
  requests,
  accessLog,
  settings,
}: Pick<ServingData, 'requests' | 'accessLog' | 'settings'>): Promise<ThreadWatch | undefined> {
  const counting = requests && countingWatch(requests, steadyMs);
  if (!accessLog) return counting && { watch: counting, close: () => Promise.resolve() };
  const { AccessLog } = await import('../observe/accessLog.ts');
  const log = new AccessLog(accessLog);
  const { trustedProxies } = settings;
  const write = (line: string): void => log.write(line);
  const watch = accessWatch({ sample: accessLog.sample, trustedProxies, counting, clock: steadyMs, write });
  return { watch, close: () => log.close() };
}
