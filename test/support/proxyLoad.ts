// Clients of a proxy that keep their connections, ask one thing after the other, and note whatever is no good answer.
// Without a clock in what they judge: they ask until they are told to stop.
import { setTimeout as delay } from 'node:timers/promises';
import { clientOf, type Sent } from './client.ts';
import { call } from './envelopes.ts';
import type { Proxy } from './proxies.ts';

const CLIENTS = 4;
const PAUSE_MS = 10;

/** What was answered well, and what went wrong. */
export interface ProxyTally {
  readonly answered: number;
  readonly faults: readonly string[];
}

/** One of the requests that must be answered 200, whichever replica has it; no two in a row are the same. */
export function soundRequest(n: number): Sent {
  const list = '/api/v3/observations/';
  const headers = { 'content-type': 'text/xml; charset=utf-8' };
  const kinds: readonly Sent[] = [
    { target: `${list}?limit=20&offset=${n % 400}` },
    { target: `${list}?title__contains=a&limit=${1 + (n % 90)}`, headers: { 'accept-encoding': 'gzip' } },
    { target: `${list}?limit=7&after=${n % 400}`, method: 'HEAD' },
    { target: '/attAuthority.wsdl', method: 'POST', headers, body: call('getTrustedHostInfo', '') },
    { target: `${list}?format=ndjson&after=${n % 400}` },
  ];
  return kinds[n % kinds.length]!;
}

/** Lets clients ask a proxy until `stop`, which resolves with what became of it. */
export function loadOn({ url }: Proxy): { answered(): number; stop(): Promise<ProxyTally> } {
  let [isOver, answered] = [false, 0];
  const faults: string[] = [];
  const ask = async (first: number): Promise<void> => {
    const client = clientOf(url);
    for (let n = first; !isOver; n += CLIENTS + 1) {
      const sent = soundRequest(n);
      try {
        const { status, body } = await client.send(sent);
        if (status === 200) answered++;
        else faults.push(`${sent.target}: ${status} ${body.slice(0, 200)}`);
      } catch (error) {
        faults.push(`${sent.target}: ${String(error)}`);
      }
      await delay(PAUSE_MS);
    }
    client.close();
  };
  const asking = Promise.all(Array.from({ length: CLIENTS }, (_, i) => ask(i)));
  const stop = async (): Promise<ProxyTally> => {
    isOver = true;
    await asking;
    return { answered, faults };
  };
  return { answered: () => answered, stop };
}
