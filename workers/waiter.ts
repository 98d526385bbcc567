// Clients that wait for the result of expensive work, alone or together, and how the work learns that they left.

/** A client that waits for a result. Once gone, it stays gone. Listeners are called at most once each. */
export interface Disconnection {
  /** The same for all requests of one connection that may wait at once; absent if there is only one. */
  readonly connection?: object | undefined;
  isGone(): boolean;
  /**
   * Whether a client that is gone will send the request again, because the transport ended its connection over a
   * request pipelined after this one (RFC 9112, 9.3.2).
   */
  isComingBack(): boolean;
  onGone(listener: () => void): void;
}

interface Shared<T> {
  readonly result: Promise<T>;
  waiting: number;
  abandon: () => void;
}

/**
 * Running work by key. Later requests for a key wait for the same result. The work learns that its client is gone only
 * when all clients are gone and none is coming back. `joined` counts requests that joined running work.
 */
export class SharedWork<T> {
  joined = 0;
  readonly #underWay = new Map<string, Shared<T>>();

  /** Whether work under `key` is running and wanted. Cost: a map look-up. */
  has(key: string): boolean {
    return this.#underWay.has(key);
  }

  /** The result of the work under `key`. `start` starts it at once unless it is running. Rejects if the work does. */
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
      // Later requests start new work, because this work may return nothing.
      this.#end(key, shared);
      shared.abandon();
    });
  }

  #end(key: string, shared: Shared<T>): void {
    if (this.#underWay.get(key) === shared) this.#underWay.delete(key);
  }
}
