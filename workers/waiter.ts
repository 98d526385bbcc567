// Who waits for the result of heavy work, alone or with others, and how to learn that they do no longer. Knows no pool:
// the work is a function.

/**
 * Whether who waits went away before the result was ready, and a hook for the moment they do. Once gone, gone for good;
 * listeners are called at most once each. `connection` is the same for all requests of one connection that may wait at
 * once; without it there is one. `isComingBack` says of one that is gone that it will ask for the same again:
 * a client whose connection the transport ended, because of a request pipelined behind (RFC 9112, 9.3.2).
 */
export interface Disconnection {
  readonly connection?: object | undefined;
  isGone(): boolean;
  isComingBack(): boolean;
  onGone(listener: () => void): void;
}

interface Shared<T> {
  readonly result: Promise<T>;
  waiting: number;
  abandon: () => void;
}

/**
 * Work by key that is under way. Whoever asks for a key meanwhile waits for the same result, and the work is told that
 * its waiter is gone only when all of them are, and none of them is coming back. `joined` counts those who found their
 * work under way.
 */
export class SharedWork<T> {
  joined = 0;
  readonly #underWay = new Map<string, Shared<T>>();

  /** Whether work under `key` is under way and wanted. Cost: a map look-up. */
  has(key: string): boolean {
    return this.#underWay.has(key);
  }

  /** The result of the work under `key`, which `start` begins at once unless it is under way; rejects where it does. */
  wait(key: string, waiter: Disconnection, start: (group: Disconnection) => Promise<T>): Promise<T> {
    let shared = this.#underWay.get(key);
    if (shared) this.joined++;
    else shared = this.#begin(key, waiter, start);
    this.#enter(key, shared, waiter);
    return shared.result;
  }

  #begin(key: string, { connection = {} }: Disconnection, start: (group: Disconnection) => Promise<T>): Shared<T> {
    const listeners: (() => void)[] = [];
    let isAbandoned = false;
    const group: Disconnection = {
      connection,
      isGone: () => isAbandoned,
      isComingBack: () => false,
      onGone: (listener) => void listeners.push(listener),
    };
    const abandon = (): void => {
      isAbandoned = true;
      for (const listener of listeners) listener();
    };
    const result = start(group).finally(() => this.#end(key, shared));
    const shared: Shared<T> = { result, waiting: 0, abandon };
    this.#underWay.set(key, shared);
    return shared;
  }

  #enter(key: string, shared: Shared<T>, waiter: Disconnection): void {
    shared.waiting++;
    waiter.onGone(() => {
      if (waiter.isComingBack() || --shared.waiting > 0) return;
      // Whoever comes from now on begins anew: this work may answer with nothing.
      this.#end(key, shared);
      shared.abandon();
    });
  }

  #end(key: string, shared: Shared<T>): void {
    if (this.#underWay.get(key) === shared) this.#underWay.delete(key);
  }
}
