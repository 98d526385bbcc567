// The authority of one serving thread: the current configuration's, replaced as a whole when the supervisor sends
// another. Reads no file and holds no state but that.
import type { AuditLog } from '../observe/log.ts';
import type { MessagePort } from 'node:worker_threads';
import type { OnLostThread } from '../../workers/starvation.ts';
import { epochSeconds } from '../observe/clock.ts';
import type { ServiceEvent } from '../observe/events.ts';
import { type AuthorisationOutcome, refusedRequest, sentRequest } from './authorised.ts';
import type { Authority, AuthorisationRequest } from './authority.ts';
import type { AuthorityData } from './configuration/load.ts';
import { type SigningThread, signingThreadOf } from './signingThread.ts';
import { trustedHostStrings } from './trustedHosts.ts';

/**
 * What a serving thread gets from the supervisor: the configuration, the file of the audit, where there is one, and
 * where other configurations come from and events go to.
 */
export interface AuthorityLink {
  readonly data: AuthorityData;
  readonly auditLog: AuditLog | undefined;
  readonly port: MessagePort;
}

/** The authority of a thread. A request is answered by the configuration that was current when it came. */
export interface AuthorityService {
  current(): Authority;
  /** Starts the signing thread, so that no request waits for that; answers when it works, or could not start. */
  start(): Promise<void>;
  /** Lets requests under way finish and ends the signing thread; no request behind it. */
  close(): Promise<void>;
}

/**
 * Opens the authority of a serving thread. `messageReader` is the module of a MessageReader; without it none reads.
 * `onLost` is told of each signing thread that died or could not start.
 */
export function openAuthority(
  { data, auditLog, port }: AuthorityLink,
  messageReader?: URL,
  onLost?: OnLostThread,
): AuthorityService {
  const { emit, flush } = gatheredFor(port);
  const thread = signingThreadOf(data, { auditLog, messageReader: messageReader?.href }, onLost);
  let current = authorityOf(data, thread, emit);
  port.on('message', (next: AuthorityData) => {
    thread.configure(next);
    current = authorityOf(next, thread, emit);
  });
  return {
    current: () => current,
    start: () => thread.start(),
    async close() {
      await thread.close();
      flush();
      port.close();
    },
  };
}

/**
 * Records wait so long for others: to wake the supervisor, and to open its file, costs more than all else that is done
 * with one. A process that is killed loses those that wait, unless a file of the audit has them already.
 */
const GATHERED_MS = 10;

/** Sends events together; those that are no records of decisions at once. */
function gatheredFor(port: MessagePort): { emit(event: ServiceEvent): void; flush(): void } {
  let waiting: ServiceEvent[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length > 0) port.postMessage(waiting);
    waiting = [];
  };
  const emit = (event: ServiceEvent): void => {
    waiting.push(event);
    if (event.kind === 'authorisation') timer ??= setTimeout(flush, GATHERED_MS);
    else flush();
  };
  return { emit, flush };
}

function authorityOf({ hosts }: AuthorityData, thread: SigningThread, emit: (event: ServiceEvent) => void): Authority {
  const authorise: Authority['authorise'] = async (request) => {
    const { answer, record } = await answered(thread, request, emit);
    emit(record);
    return answer;
  };
  return { trustedHosts: trustedHostStrings(hosts), authorise, read: (message) => thread.read(message) };
}

const BUSY = { code: 'busy', sentence: 'This service has too much to do at the moment; please try again.' } as const;
const BUG = { code: 'bug', sentence: 'This service met an error of its own, which has been recorded.' } as const;

async function answered(
  thread: SigningThread,
  request: AuthorisationRequest,
  emit: (event: ServiceEvent) => void,
): Promise<AuthorisationOutcome> {
  const at = epochSeconds();
  const refusal = { status: 'AccessError', user: undefined, at } as const;
  try {
    const authorised = await thread.run(request);
    if (typeof authorised !== 'string') return authorised;
    const refused = refusedRequest(sentRequest(request), BUSY, refusal);
    return authorised === 'busy' ? refused : { ...refused, answer: { ...refused.answer, isStarved: true } };
  } catch (error) {
    emit({ kind: 'authorityBug', at, stack: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    return refusedRequest(sentRequest(request), BUG, refusal);
  }
}
