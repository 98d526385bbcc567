// Work with several waiting clients: it begins once, and is abandoned only when all of them have disconnected.
import { expect, test } from 'vitest';
import { SharedWork, type Disconnection } from '../../../workers/waiter.ts';

/** A client that disconnects on command. */
class Client implements Disconnection {
  #isGone = false;
  #isComingBack = false;
  readonly #listeners: (() => void)[] = [];
  isGone(): boolean {
    return this.#isGone;
  }
  onGone(listener: () => void): void {
    this.#listeners.push(listener);
  }
  isComingBack(): boolean {
    return this.#isComingBack;
  }
  leave(isComingBack = false): void {
    this.#isGone = true;
    this.#isComingBack = isComingBack;
    for (const listener of this.#listeners) listener();
  }
}

/** Work that the test finishes; `given up` if its group left. */
class Work {
  begun = 0;
  abandoned = 0;
  readonly #ends: ((value: string) => void)[] = [];
  readonly start = (group: Disconnection): Promise<string> => {
    this.begun++;
    group.onGone(() => this.abandoned++);
    return new Promise((resolve) => this.#ends.push(resolve));
  };
  end(i: number, value: string): void {
    this.#ends[i]!(value);
  }
}

test('abandons work that all clients have left, and starts from scratch for a later client', async () => {
  const shared = new SharedWork<string>();
  const work = new Work();
  const clients = [new Client(), new Client()];
  for (const client of clients) void shared.wait('key', client, work.start);
  for (const client of clients) client.leave();
  expect([work.abandoned, shared.has('key')]).toEqual([1, false]);
  const late = shared.wait('key', new Client(), work.start);
  expect(work.begun).toBe(2);
  work.end(0, 'gone');
  work.end(1, 'found');
  expect(await late).toBe('found');
});

test('does not abandon work if a client that left is coming back, which then finds it running', async () => {
  const shared = new SharedWork<string>();
  const work = new Work();
  const clients = [new Client(), new Client()] as const;
  for (const client of clients) void shared.wait('key', client, work.start);
  clients[0].leave(true);
  clients[1].leave();
  expect([work.abandoned, shared.has('key')]).toEqual([0, true]);
  const back = shared.wait('key', new Client(), work.start);
  work.end(0, 'found');
  expect([await back, work.begun]).toEqual(['found', 1]);
});

test('abandons nothing that others wait for if a client leaves after its response', async () => {
  const shared = new SharedWork<string>();
  const work = new Work();
  const early = new Client();
  const first = shared.wait('key', early, work.start);
  work.end(0, 'one');
  await first;
  const second = shared.wait('key', new Client(), work.start);
  early.leave();
  expect(shared.has('key')).toBe(true);
  work.end(1, 'two');
  expect(await second).toBe('two');
});

test('rejects failed work for all that wait, and forgets it', async () => {
  const shared = new SharedWork<string>();
  const fail = (): Promise<string> => Promise.reject(new Error('a bug'));
  const waits = [shared.wait('key', new Client(), fail), shared.wait('key', new Client(), fail)];
  const settled = await Promise.allSettled(waits);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(shared.has('key')).toBe(false);
});
