// The authority's part of a serving thread: the authority itself, and its SOAP service before the catalogue.
// Apart from servingThread.ts so that a server without an authority reads none of it.
import { openAuthority, type AuthorityLink } from '../authority/service.ts';
import type { Handler } from '../http/exchange.ts';
import { soapHandler, type SoapOptions } from '../soap/service.ts';

/**
 * The handler of a thread with an authority, what starts the thread that signs for it, and how that ends: requests
 * under way finish, no request behind it.
 */
export interface AuthorityPart {
  readonly handler: Handler;
  start(): void;
  close(): Promise<void>;
}

const MESSAGE_READER = new URL('../soap/envelopeReader.ts', import.meta.url);

/** Opens the authority of a link; the handler of every path that is not the service's is `otherwise`. */
export function openAuthorityBefore(
  otherwise: Handler,
  { link, settings, tally }: Pick<SoapOptions, 'settings' | 'tally'> & { readonly link: AuthorityLink },
): AuthorityPart {
  const service = openAuthority(link, MESSAGE_READER);
  const handler = soapHandler({ authority: () => service.current(), settings, tally, otherwise });
  return { handler, start: () => service.start(), close: () => service.close() };
}
