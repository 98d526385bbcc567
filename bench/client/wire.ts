// Requests as bytes on the wire.
// Pure.
import type { Exchange } from './loadClient.ts';

/** The request of an exchange with its body as it stands there. */
export function wireOf({ target, headers = {}, body }: Exchange): Buffer {
  const content = Buffer.from(body ?? '');
  const length = body === undefined ? {} : { 'Content-Length': `${content.length}` };
  const all = Object.entries({ Host: 'bench', ...headers, ...length });
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${body === undefined ? 'GET' : 'POST'} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return Buffer.concat([head, content]);
}
