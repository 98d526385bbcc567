// Makes the document of the API in a thread of its own, which ends with it: one at a time, for as long as one may take,
// and tried again a while later where the system has nothing left to start one with. Keeps no document.
import { Worker } from 'node:worker_threads';
import { budgetOf } from '../../workers/budget.ts';
import { isStarved, type OnLostThread, waitMsAfter } from '../../workers/starvation.ts';
import type { DocumentOrder, DocumentTexts } from '../openapi/files.ts';

/** A hundred times what it takes: a thread that needs longer will not end by itself. */
const WITHIN_MS = 10_000;

/** The documents of a serving thread. `onLost` is told of each thread that died or could not start. */
export class DocumentMaker {
  readonly #onLost: OnLostThread;
  #last: Promise<unknown> = Promise.resolve();
  #failures = 0;
  #starvedOf: unknown;
  #isOver: () => boolean = () => true;

  constructor(onLost: OnLostThread) {
    this.#onLost = onLost;
  }

  /** Makes one, after those ordered before. Rejects with what the system says that has no thread, or with our bug. */
  make(order: DocumentOrder): Promise<DocumentTexts> {
    const made = this.#last.then(() => this.#made(order));
    this.#last = made.catch(() => undefined);
    return made;
  }

  async #made(order: DocumentOrder): Promise<DocumentTexts> {
    if (!this.#isOver()) throw this.#starvedOf;
    try {
      const texts = await textsOf(order);
      this.#failures = 0;
      return texts;
    } catch (error) {
      const isStarvation = isStarved(error);
      if (isStarvation) {
        this.#starvedOf = error;
        this.#isOver = budgetOf(waitMsAfter(++this.#failures));
      }
      this.#onLost(error, isStarvation);
      throw error;
    }
  }
}

function textsOf(order: DocumentOrder): Promise<DocumentTexts> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('../openapi/documentThread.ts', import.meta.url), { workerData: order });
    const tooLong = setTimeout(() => {
      reject(new Error(`a document thread took longer than ${WITHIN_MS / 1000} s`));
      void worker.terminate();
    }, WITHIN_MS);
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => {
      clearTimeout(tooLong);
      reject(new Error(`a document thread ended by itself, with code ${code}`));
    });
  });
}
