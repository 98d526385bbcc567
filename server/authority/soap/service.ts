// The handler of the attribute authority: WSDL for GET and HEAD, SOAP 1.1 over POST (spec, attribute authority; design:
// message level; Content-Type: RFC 9110, 8.3). The authority thread handles messages. All other paths go to the next
// handler.
import { MIMEType } from 'node:util';
import {
  type Answer,
  basePath,
  type Handler,
  type Intake,
  type Reply,
  ROUTE,
  targetWithin,
} from '../../http/exchange.ts';
import type { Tally } from '../../observe/tally.ts';
import type { Sender, SoapMessage } from '../authority.ts';
import { AuthorityClient, type AuthorityLink } from '../client.ts';
import {
  ENCODED_BODY,
  FAULT_ANSWERS,
  METHOD_NOT_ALLOWED,
  NOT_XML,
  type Outcome,
  TOO_LONG,
  xmlAnswer,
} from './answers.ts';
import { SERVICE_PATH } from './protocol.ts';
import { wsdlBytes } from './wsdl.ts';

/**
 * The charset of a text/xml request; undefined if the header or its charset is missing. `unsupported` for any other
 * type. The first of two charsets counts.
 */
export function readCharset(contentType: string | undefined): { readonly charset: string | undefined } | 'unsupported' {
  if (contentType === undefined) return { charset: undefined };
  try {
    const { essence, params } = new MIMEType(contentType);
    return essence === 'text/xml' ? { charset: params.get('charset') ?? undefined } : 'unsupported';
  } catch {
    return 'unsupported';
  }
}

export interface SoapSettings {
  /** The WSDL always contains this URL, whatever host name a client uses. */
  readonly baseUrl: string;
  /** Other base URLs under which the service is available. */
  readonly allowBaseUrls: readonly string[];
  readonly soapBodyBytesMax: number;
}

export interface SoapOptions {
  readonly authority: Pick<AuthorityClient, 'find' | 'ask'>;
  readonly settings: SoapSettings;
  readonly tally: Tally;
  readonly fallback: Handler;
}

export function openAuthority(
  link: AuthorityLink,
  options: Omit<SoapOptions, 'authority'>,
): { readonly authority: AuthorityClient; readonly handler: Handler } {
  const authority = new AuthorityClient(link);
  return { authority, handler: soapHandler({ ...options, authority }) };
}

/** The handler of the service's path. Cost for other paths: one comparison of lengths per base path. */
export function soapHandler({ authority, settings, tally, fallback: otherwise }: SoapOptions): Handler {
  const wsdl = xmlAnswer(wsdlBytes(settings.baseUrl));
  const paths = [...new Set([settings.baseUrl, ...settings.allowBaseUrls].map(basePath))];
  const count = ({ answer, cell }: Outcome): Answer => {
    tally[cell]!++;
    return answer;
  };
  const ask = async (message: SoapMessage): Promise<Answer> => count(await authority.ask(message));
  const intake = (charset: string | undefined, sender: Sender): Intake => ({
    bodyBytesMax: settings.soapBodyBytesMax,
    tooLong: TOO_LONG,
    busy: FAULT_ANSWERS.busy,
    failed: FAULT_ANSWERS.bug,
    answer: (body) => {
      const message: SoapMessage = { body, charset, sender };
      const known = authority.find(message);
      return known ? count(known) : ask(message);
    },
  });
  return (request, disconnection): Reply => {
    if (!isServiceBelow(paths, request.target)) return otherwise(request, disconnection);
    request.route = ROUTE.authority;
    if (request.method === 'GET' || request.method === 'HEAD') return wsdl;
    if (request.method !== 'POST') return METHOD_NOT_ALLOWED;
    const type = readCharset(request.header('content-type'));
    if (type === 'unsupported') return NOT_XML;
    const coding = request.header('content-encoding');
    if (coding !== undefined && coding.toLowerCase() !== 'identity') return ENCODED_BODY;
    // SOAPAction is ignored: the Body names the operation (A92).
    return intake(type.charset, { id: request.id, peer: request.peer() });
  };
}

/**
 * Compares targets as sent, so that a proxy's rule for the path cannot be evaded by another spelling. Runs for every
 * request.
 */
function isServiceBelow(paths: readonly string[], target: string): boolean {
  for (const path of paths) if (targetWithin(target, path) === SERVICE_PATH) return true;
  return false;
}
