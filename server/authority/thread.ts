// The authority thread, one per process: it reads messages, decides, signs, records and writes responses. It gets its
// configuration at start and later ones as messages, and opens no socket and no file except the audit log.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { beNice } from '../../workers/niceness.ts';
import { reasonOf } from '../../data/operationError.ts';
import { epochSeconds } from '../observe/clock.ts';
import type { ServiceEvent } from '../observe/events.ts';
import { appendLines, logLine, logTo, auditFileText } from '../observe/log.ts';
import { Audit, COUNTS_EVERY_MS } from './audit.ts';
import { makeAuthoriser } from './authorise.ts';
import {
  type Authority,
  type AuthorityReport,
  type AuthorityStart,
  type FromAuthority,
  isLong,
  type PostedMessage,
  type ToAuthority,
  trustedHostStrings,
} from './authority.ts';
import type { AuthorityData } from './configuration/load.ts';
import { replyTo } from './soap/reply.ts';

/** News are batched for this long: waking the supervisor costs more than the rest of the handling of an event. */
const REPORT_MS = 10;

/**
 * The thread sleeps for this time, plus the system's overhead, after reading a message and before signing. Linux lets a
 * running thread finish its slice however nice it is, so a serving thread that wakes meanwhile would wait. Without the
 * sleeps the catalogue's p99 is 1.2 to 1.5 times as high.
 */
const YIELD_MS = 0.05;

interface Job {
  readonly port: MessagePort;
  readonly message: PostedMessage;
}

const supervisor = parentPort!;
const { data, audit: file } = workerData as AuthorityStart;
const audit = new Audit(
  logTo((lines) => appendLines(file, lines)),
  (events, cause) => {
    const problem = `the audit log ${auditFileText(file)} cannot be written (${reasonOf(cause)})`;
    const sentences = events.map((event) => `${problem}: ${logLine(event)}`);
    postReport([], sentences);
  },
);
const neverWoken = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
const ports = new Set<MessagePort>();
const short: Job[] = [];
const long: Job[] = [];
let news: { events: ServiceEvent[]; unwritten: string[] } = { events: [], unwritten: [] };
let newsTimer: NodeJS.Timeout | undefined;
let isArmed = false;
let authority = makeAuthority(data);

function makeAuthority(configuration: AuthorityData): Authority {
  const decide = makeAuthoriser(configuration, yieldToOthers);
  return {
    trustedHosts: trustedHostStrings(configuration.hosts),
    authorise: (request) => {
      yieldToOthers();
      const { answer, record } = audit.record(decide(request, epochSeconds()));
      postReport([record]);
      return answer;
    },
  };
}

function yieldToOthers(): void {
  Atomics.wait(neverWoken, 0, 0, YIELD_MS);
}

function postReport(events: readonly ServiceEvent[], unwritten: readonly string[] = []): void {
  news.events.push(...events);
  news.unwritten.push(...unwritten);
  newsTimer ??= setTimeout(flush, REPORT_MS);
}

function flush(): void {
  clearTimeout(newsTimer);
  newsTimer = undefined;
  if (news.events.length + news.unwritten.length > 0) supervisor.postMessage(news satisfies AuthorityReport);
  news = { events: [], unwritten: [] };
}

function link(port: MessagePort): void {
  ports.add(port);
  port.on('message', (message: PostedMessage) => {
    (isLong(message.body) ? long : short).push({ port, message });
    scheduleReport();
  });
  port.once('close', () => ports.delete(port));
  send(port, { trustedHosts: authority.trustedHosts });
}

function scheduleReport(): void {
  if (isArmed) return;
  isArmed = true;
  setImmediate(answerNext);
}

/** Handles one message per turn. Long ones wait for all short ones, so that a flood of long messages delays no user. */
function answerNext(): void {
  isArmed = false;
  const job = short.shift() ?? long.shift();
  if (!job) return;
  const reply = replyTo(authority, job.message, recordBug);
  send(job.port, { id: job.message.id, reply }, 'bytes' in reply ? [reply.bytes.buffer] : []);
  scheduleReport();
}

function recordBug(error: unknown): void {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const bug = { kind: 'authorityBug', at: epochSeconds(), stack } as const;
  if (typeof file === 'string') audit.write([bug]);
  postReport([bug]);
}

function send(port: MessagePort, message: FromAuthority, transferred: readonly ArrayBuffer[] = []): void {
  port.postMessage(message, transferred);
}

function end(): void {
  audit.writeCounts();
  flush();
  for (const port of ports) port.close();
  supervisor.close();
}

beNice();
setInterval(() => audit.writeCounts(), COUNTS_EVERY_MS).unref();
supervisor.on('message', (message: ToAuthority) => {
  switch (message.kind) {
    case 'link':
      return link(message.port);
    case 'audit':
      return audit.write(message.events);
    case 'data':
      audit.writeCounts();
      authority = makeAuthority(message.data);
      for (const port of ports) send(port, { trustedHosts: authority.trustedHosts });
      return undefined;
    case 'end':
      return end();
  }
});
