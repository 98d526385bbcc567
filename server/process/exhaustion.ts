// What a serving thread does while the process has no descriptor left: it turns slowly. The library tries to accept a
// connection that waits in each turn, at once again where it gets no descriptor, and would burn a core. Closes nothing:
// who waits is served when a descriptor comes free.
import { closeSync, openSync } from 'node:fs';
import { reasonOf } from '../../data/operationError.ts';

/** No descriptor of the process's is left, or none of the system's. */
const EXHAUSTED: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE']);

/** How long each turn of the event loop waits then: requests on connections that are open take so much longer. */
const TURN_MS = 5;

/** Looks whether a descriptor is left, and slows the thread's turns from then on until there is one again. */
export class Exhaustion {
  readonly #never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  #isExhausted = false;

  /** Looks; answers the system's word where there is none. Cost: two system calls. */
  look(): string | undefined {
    const reason = refusal();
    const wasExhausted = this.#isExhausted;
    this.#isExhausted = reason !== undefined;
    if (reason !== undefined && !wasExhausted) this.#turn();
    return reason;
  }

  #turn(): void {
    if (!this.#isExhausted) return;
    Atomics.wait(this.#never, 0, 0, TURN_MS);
    setImmediate(() => this.#turn());
  }
}

function refusal(): string | undefined {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return undefined;
  } catch (error) {
    const reason = reasonOf(error);
    return EXHAUSTED.has(reason) ? reason : undefined;
  }
}
