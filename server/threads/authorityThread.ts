// The authority's part of a serving thread: the authority itself, and its SOAP service before the catalogue.
// Apart from servingThread.ts so that a server without an authority reads none of it.
import { openAuthority, type AuthorityLink } from '../authority/service.ts';
import type { OnLostThread } from '../../workers/starvation.ts';
import type { Handler } from '../http/exchange.ts';
import { soapHandler, type SoapOptions } from '../authority/soap/service.ts';

/**
 * The handler of a thread with an authority, the hosts that it trusts now, what starts the thread that signs for it
 * and waits until it works, and how that ends: requests under way finish, no request behind it.
 */
export interface AuthorityPart {
  readonly handler: Handler;
  trustedHosts(): ReadonlyMap<string, readonly string[]>;
  start(): Promise<void>;
  close(): Promise<void>;
}

interface SigningOptions {
  readonly link: AuthorityLink;
  readonly onLost: OnLostThread;
}

const MESSAGE_READER = new URL('../authority/soap/envelopeReader.ts', import.meta.url);

/**
 * Opens the authority of a link; the handler of every path that is not the service's is `otherwise`. `onLost` is told
 * of each signing thread that died or could not start.
 */
export function openAuthorityBefore(
  otherwise: Handler,
  { link, onLost, ...options }: Pick<SoapOptions, 'settings' | 'tally' | 'slices'> & SigningOptions,
): AuthorityPart {
  const service = openAuthority(link, MESSAGE_READER, onLost);
  const handler = soapHandler({ ...options, authority: () => service.current(), otherwise });
  const trustedHosts = (): ReturnType<AuthorityPart['trustedHosts']> => service.current().trustedHosts;
  return { handler, trustedHosts, start: () => service.start(), close: () => service.close() };
}
