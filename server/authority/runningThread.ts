// The authority thread as the supervisor has it: it starts the thread, starts it again when it dies, and connects
// serving threads with it.
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { isStarved, type OnLostThread } from '../../workers/starvation.ts';
import { steadyMs } from '../observe/clock.ts';
import type { AuditFile } from '../observe/log.ts';
import type { Observer, ServiceEvent } from '../observe/events.ts';
import type { AuthorityNews, AuthorityStart, ToAuthority } from './authority.ts';
import { newBacklog } from './backlog.ts';
import type { AuthorityLink } from './client.ts';
import type { AuthorityData } from './configuration/load.ts';

/** Starts within a minute, so that a thread that dies at once takes no more than its share of the machine. */
const STARTS_MAX = 5;
const MINUTE_MS = 60_000;

/** `onUnwritten` gets a sentence about each line that the audit lost. */
export interface AuthorityHearers {
  readonly observe: Observer;
  readonly onUnwritten: (sentence: string) => void;
  readonly onLostThread: OnLostThread;
}

export class RunningThread {
  readonly #audit: AuditFile;
  readonly #hearers: AuthorityHearers;
  readonly #backlog = newBacklog();
  readonly #links = new Set<MessagePort>();
  readonly #stopped = Promise.withResolvers<void>();
  #data: AuthorityData;
  #worker: Worker | undefined;
  #isStopping = false;
  /** The last STARTS_MAX. */
  #startsMs: readonly number[] = [];

  constructor(data: AuthorityData, audit: AuditFile, hearers: AuthorityHearers) {
    this.#data = data;
    this.#audit = audit;
    this.#hearers = hearers;
    this.#start();
  }

  /** The link of one more serving thread; its port must be transferred to it. */
  link(): AuthorityLink {
    const { port1, port2 } = new MessageChannel();
    this.#links.add(port1);
    port1.once('close', () => this.#links.delete(port1));
    port1.unref();
    this.#connect(port1);
    return { port: port2, backlog: this.#backlog };
  }

  /** Answers later messages by this configuration. */
  configure(data: AuthorityData): void {
    this.#data = data;
    this.#post({ kind: 'data', data });
  }

  /** Writes events to the audit if that is a file. Standard output has decisions only. */
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
      worker.on('message', ({ events, unwritten }: AuthorityNews) => {
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
