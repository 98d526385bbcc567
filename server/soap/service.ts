// The attribute authority's handler: WSDL to GET and HEAD, SOAP 1.1 over POST (spec, attribute authority; design: message level).
// Speaks for an Authority and decides nothing itself; every other path is the other handler's. Knows no transport.
import type { Authority } from '../authority/authority.ts';
import type { Answer, Handler, Intake, Reply, Request } from '../http/exchange.ts';
import {
  ENCODED,
  FAULT_ANSWERS,
  METHOD_NOT_ALLOWED,
  NOT_XML,
  response,
  TOO_LONG,
  trustedHostAnswers,
  type TrustedHostAnswers,
  xmlAnswer,
} from './answers.ts';
import { charsetOf } from './contentType.ts';
import { readEnvelope } from './envelopeReader.ts';
import { scanEnvelope } from './envelopeScanner.ts';
import { type Call, GET_TRUSTED_HOST_INFO, REQ_AUTHORISATION, SERVICE_PATH } from './protocol.ts';
import { wsdlBytes } from './wsdl.ts';

/** The settings of the service; the base URL is known by now, and stands in the WSDL whatever a client calls us. */
export interface SoapSettings {
  readonly baseUrl: string;
  readonly soapBodyBytesMax: number;
}

/** What the handler is composed of. `authority` is asked for each request: a reload makes another, undefined is none at all. */
export interface SoapOptions {
  readonly authority: () => Authority | undefined;
  readonly settings: SoapSettings;
  readonly otherwise: Handler;
}

/**
 * The handler of the service's path; `otherwise` answers every other one, and this one too while there is no authority (A99).
 * Cost for other paths: a comparison of lengths. getTrustedHostInfo is answered at once from bytes made before.
 */
export function soapHandler({ authority, settings, otherwise }: SoapOptions): Handler {
  const service = new Service(settings);
  return (request, disconnection): Reply => {
    const current = isServicePath(request.target) ? authority() : undefined;
    return current === undefined ? otherwise(request, disconnection) : service.reply(current, request);
  };
}

/** The path as usually written, or with characters percent-encoded that need not be. */
function isServicePath(target: string): boolean {
  if (target.length === SERVICE_PATH.length) return target === SERVICE_PATH;
  if (target.length > 3 * SERVICE_PATH.length || !target.includes('%')) return false;
  try {
    return decodeURIComponent(target) === SERVICE_PATH;
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}

class Service {
  readonly #wsdl: Answer;
  readonly #bodyBytesMax: number;
  #known: { readonly authority: Authority; readonly answers: TrustedHostAnswers } | undefined;

  constructor({ baseUrl, soapBodyBytesMax }: SoapSettings) {
    this.#wsdl = xmlAnswer(wsdlBytes(baseUrl));
    this.#bodyBytesMax = soapBodyBytesMax;
  }

  /** Judges method, type, coding, in this order; the message once its body is here. */
  reply(authority: Authority, request: Request): Reply {
    if (request.method === 'GET' || request.method === 'HEAD') return this.#wsdl;
    if (request.method !== 'POST') return METHOD_NOT_ALLOWED;
    const type = charsetOf(request.header('content-type'));
    if (type === 'unsupported') return NOT_XML;
    const coding = request.header('content-encoding');
    if (coding !== undefined && coding.toLowerCase() !== 'identity') return ENCODED;
    return this.#intake(authority, type.charset);
  }

  /** SOAPAction is not looked at: the Body says which operation is meant (A92). */
  #intake(authority: Authority, charset: string | undefined): Intake {
    return {
      bodyBytesMax: this.#bodyBytesMax,
      tooLong: TOO_LONG,
      failed: FAULT_ANSWERS.bug,
      answer: (body) => {
        const call = (isScannable(charset) ? scanEnvelope(body) : undefined) ?? readEnvelope(body, charset);
        return typeof call === 'string' ? FAULT_ANSWERS[call] : this.#answer(authority, call);
      },
    };
  }

  #answer(authority: Authority, { operation, values }: Call): Answer | Promise<Answer> {
    const [first = '', second = ''] = values;
    if (operation === GET_TRUSTED_HOST_INFO) {
      const answers = this.#answersOf(authority);
      return answers.get(first) ?? answers.get(undefined)!;
    }
    return authorised(authority, first, second);
  }

  #answersOf(authority: Authority): TrustedHostAnswers {
    if (this.#known?.authority !== authority) this.#known = { authority, answers: trustedHostAnswers(authority) };
    return this.#known.answers;
  }
}

async function authorised(authority: Authority, usrProxyCert: string, usrAttCert: string): Promise<Answer> {
  const { attCert, statCode, errMsg } = await authority.authorise({ usrProxyCert, usrAttCert });
  return response(REQ_AUTHORISATION, [attCert, statCode, errMsg]);
}

/** Whether the scanner, which reads UTF-8, reads a body of this charset as the reader would. */
function isScannable(charset: string | undefined): boolean {
  return charset === undefined || charset === 'utf-8' || charset === 'UTF-8';
}
