// A folder as a replica reads it. It may be mounted, and what is asked of a mount whose server went silent may never be
// answered, nor be called back: nobody waits for it here, and little more is asked until it is.
import { fileURLToPath } from 'node:url';
import { statOf } from '../files.ts';
import { OperationError } from '../operationError.ts';
import { fileTarget } from './fileTarget.ts';
import type { Target } from './target.ts';

/**
 * The folder of a `file:` URL as a target that is only read. Its pointer is an error, OperationError `file`, where
 * there is no such folder, and `network` where it takes longer than `timeoutMs`. Of the threads by which this process
 * reads files, two are lost at most while a mount is silent.
 */
export function readableFolder(url: URL, timeoutMs: number): Target {
  const target = fileTarget(url);
  const folder = fileURLToPath(url);
  const { name } = target;
  const questions = new Questions(name);
  return {
    name,
    async readPointer(known, signal) {
      const late = new AbortController();
      const why = new OperationError('network', `${name}: no answer within ${timeoutMs / 1000} s`);
      const timer = setTimeout(() => late.abort(why), timeoutMs);
      const asked = async (): ReturnType<Target['readPointer']> => {
        const found = await target.readPointer(known, signal);
        if (found === undefined && !(await statOf(folder)))
          throw new OperationError('file', `${name}: there is no such folder`);
        return found;
      };
      try {
        return await questions.ask(asked, AbortSignal.any([signal, late.signal]));
      } finally {
        clearTimeout(timer);
      }
    },
    async read(object, offset, signal) {
      const found = await questions.ask(() => target.read(object, offset, signal), signal);
      return found && { offset: found.offset, pieces: questions.pieces(found.pieces, signal) };
    },
    close: target.close,
  };
}

/** While a question is open nothing else is asked, for so long: another file server may be mounted there by then. */
const AGAIN_MS = 600_000;
/** So many may be open: each takes one of the four threads by which a process reads files. */
const LEFT_MAX = 2;

/** What is asked of one folder. */
class Questions {
  readonly #name: string;
  /** Those that nobody waits for any more, and that were not answered yet. */
  #left = 0;
  /** Why nothing is asked now: as the last one ended, so that it is told once. */
  #refusal: OperationError | undefined;
  #again: NodeJS.Timeout | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  /**
   * What `work` gives. Throws OperationError `network` once `signal` is aborted, for its reason, and while an earlier
   * question is open, as that one did.
   */
  async ask<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#refusal) throw this.#refusal;
    if (signal.aborted) throw this.#endOf(signal);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let isLeft = false;
    const leave = (): void => {
      isLeft = true;
      this.#left++;
      this.#refusal = this.#endOf(signal);
      reject(this.#refusal);
      clearTimeout(this.#again);
      if (this.#left < LEFT_MAX) this.#again = setTimeout(() => (this.#refusal = undefined), AGAIN_MS).unref();
    };
    signal.addEventListener('abort', leave, { once: true });
    const settle = (): void => {
      signal.removeEventListener('abort', leave);
      if (!isLeft) return;
      this.#left--;
      this.#refusal = undefined;
      clearTimeout(this.#again);
    };
    work().finally(settle).then(resolve, reject);
    return promise;
  }

  /** Pieces, each of which is asked for. */
  async *pieces(pieces: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const each = pieces[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.ask(() => each.next(), signal);
        if (next.done) return;
        yield next.value;
      }
    } finally {
      // It closes the file, once what it waits for is there.
      void each.return?.().catch(() => undefined);
    }
  }

  #endOf({ reason }: AbortSignal): OperationError {
    return reason instanceof OperationError
      ? reason
      : new OperationError('network', `${this.#name}: is not asked any more`);
  }
}
