// The serving thread's side of the authority: posts messages to the authority thread and receives the replies. Caches
// responses of getTrustedHostInfo by the bytes of the request until the configuration changes.
import type { MessagePort } from 'node:worker_threads';
import { Memory } from '../http/memory.ts';
import {
  type Authority,
  enter,
  type FromAuthority,
  leave,
  type PostedMessage,
  type Reply,
  type SoapMessage,
} from './authority.ts';
import { type Outcome, toOutcome } from './soap/answers.ts';
import { OUTCOME } from './soap/tally.ts';

/** From the supervisor: a port that receives a port to each authority thread, and the shared words of the backlog. */
export interface AuthorityLink {
  readonly port: MessagePort;
  readonly backlog: Int32Array;
}

/** Enough for the roles and toolkits of most sites: one toolkit sends the same bytes whenever it asks for a role. */
const KNOWN_BYTES_MAX = 32_768;
/** Limit of a body in the cache: four times the size that toolkits send for getTrustedHostInfo. */
const KNOWN_BODY_BYTES_MAX = 2048;
/** Length of the cache key: the end of a body, which contains the role. Hashing the whole body would take longer. */
const END_BYTES = 96;

interface Known {
  readonly message: SoapMessage;
  readonly outcome: Outcome;
}

interface Waiting {
  readonly message: SoapMessage;
  readonly resolve: (outcome: Outcome) => void;
}

export class AuthorityClient {
  /** Resolves when an authority thread responds, or has ended before. */
  readonly started: Promise<void>;
  #trustedHosts: Authority['trustedHosts'] = new Map();
  readonly #link: AuthorityLink;
  readonly #waiting = new Map<number, Waiting>();
  #known = new Memory<Known>(KNOWN_BYTES_MAX);
  #port: MessagePort | undefined;
  #lastId = 0;
  #isClosing = false;

  constructor(link: AuthorityLink) {
    this.#link = link;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.started = promise;
    link.port.on('message', (port: MessagePort) => this.#connect(port, resolve));
  }

  trustedHosts(): Authority['trustedHosts'] {
    return this.#trustedHosts;
  }

  /** The cached outcome of the same message, if any. Cost: one lookup. */
  find({ body, charset }: SoapMessage): Outcome | undefined {
    const known = this.#known.find(copyEnd(body));
    if (known?.message.charset !== charset) return undefined;
    return known && Buffer.compare(known.message.body, body) === 0 ? known.outcome : undefined;
  }

  /** The fault is `busy` if too many messages wait, `away` if no authority thread runs or it ends meanwhile. */
  async ask({ body, ...head }: SoapMessage): Promise<Outcome> {
    if (!this.#port) return toOutcome({ fault: 'away' });
    if (!enter(this.#link.backlog, body)) return toOutcome({ fault: 'busy' });
    const id = ++this.#lastId;
    // Copied, because the transport reuses its memory.
    const message = { ...head, body: Uint8Array.from(body) };
    this.#port.postMessage({ ...message, id } satisfies PostedMessage);
    return new Promise((resolve) => this.#waiting.set(id, { message, resolve }));
  }

  /** Closes after the replies to waiting messages. No message may follow. */
  close(): void {
    this.#isClosing = true;
    this.#link.port.close();
    if (this.#waiting.size === 0) this.#port?.close();
  }

  #connect(port: MessagePort, started: () => void): void {
    this.#port = port;
    port.on('message', (message: FromAuthority) => {
      if ('reply' in message) return this.#take(message.id, message.reply);
      this.#trustedHosts = message.trustedHosts;
      this.#known = new Memory(KNOWN_BYTES_MAX);
      return started();
    });
    port.once('close', () => {
      this.#port = undefined;
      for (const id of this.#waiting.keys()) this.#take(id, { fault: 'away' });
      started();
    });
  }

  #take(id: number, reply: Reply): void {
    const { message, resolve } = this.#waiting.get(id)!;
    this.#waiting.delete(id);
    leave(this.#link.backlog, message.body);
    // Unknown roles are not cached: a client that invents roles evicts nothing.
    const outcome = toOutcome(reply);
    const isKept = outcome.cell === OUTCOME.listed || outcome.cell === OUTCOME.noRole;
    const { length } = message.body;
    if (isKept && length <= KNOWN_BODY_BYTES_MAX) this.#known.keep(copyEnd(message.body), { message, outcome }, length);
    resolve(outcome);
    if (this.#isClosing && this.#waiting.size === 0) this.#port?.close();
  }
}

function copyEnd(body: Uint8Array): string {
  const length = Math.min(body.length, END_BYTES);
  return Buffer.from(body.buffer, body.byteOffset + body.length - length, length).toString('latin1');
}
