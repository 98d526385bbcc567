// The authority's part of a serving thread, apart from servingThread.ts so that a server without an authority reads
// none of it.
import { AuthorityClient, type AuthorityLink } from '../authority/client.ts';
import { soapHandler, type SoapOptions } from '../authority/soap/service.ts';
import type { Handler } from '../http/exchange.ts';

/**
 * The client of an authority, and a handler of every path, which leaves those that are not the service's to another.
 */
export function openAuthority(
  link: AuthorityLink,
  options: Omit<SoapOptions, 'authority'>,
): { readonly authority: AuthorityClient; readonly handler: Handler } {
  const authority = new AuthorityClient(link);
  return { authority, handler: soapHandler({ ...options, authority }) };
}
