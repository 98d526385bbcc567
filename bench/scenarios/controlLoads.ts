// The requests to the bare control for a scenario: as many responses of as many bytes, without any work of the product.
import { request } from 'node:http';
import type { Exchange } from '../client/loadClient.ts';
import type { NaiveCatalogue } from './naive.ts';
import type { ListeningProcess } from '../processes/processes.ts';
import type { Load } from '../load/rounds.ts';
import type { Control } from './scenario.ts';

const BARE_BYTES = 300;

/** As many exchanges as the subject has. The views of `page` follow one another like pages. */
export function bareLoad(control: ListeningProcess, kind: Exclude<Control, object>, subject: Load, word: string): Load {
  let at = 0;
  const exchanges = subject.exchanges.map(({ bytes }): Exchange => {
    at += bytes;
    switch (kind) {
      case 'bare':
        return { target: '/bare', status: 200, bytes: BARE_BYTES };
      case 'scan':
        return { target: `/scan/${encodeURIComponent(word)}`, status: 200, bytes: BARE_BYTES };
      case 'signature':
        return { target: '/sign', status: 200, bytes: BARE_BYTES };
      case 'page':
        return { target: `/page/${bytes}/${at - bytes}`, status: 200, bytes };
      case 'markup':
        return { target: `/markup/${bytes}`, status: 200, bytes };
      case 'floor':
        return { target: `/floor/${bytes}`, status: 200, bytes };
    }
  });
  return { ...subject, process: control, exchanges };
}

/** Sends the control the titles to scan. */
export async function sendTitles(port: number, { rows }: NaiveCatalogue): Promise<void> {
  const text = Buffer.from(rows.map(({ title }) => title).join('\n'));
  await new Promise<void>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: '/text', method: 'POST', agent: false }, (response) => {
      response.resume();
      response.once('end', resolve);
    });
    sent.once('error', reject);
    sent.end(text);
  });
}
