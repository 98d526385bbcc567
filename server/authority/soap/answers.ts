// The answers of the attribute authority that depend on nothing or on its configuration only: made once, sent as they
// are. Knows no transport and reads no request.
import { wholeBody } from '../../../engine/engine.ts';
import type { Authority } from '../authority.ts';
import type { Answer } from '../../http/exchange.ts';
import { FAULTS, type FaultName } from './faults.ts';
import { GET_TRUSTED_HOST_INFO, type Operation } from './protocol.ts';
import { faultBytes, responseBytes, type Result } from './responses.ts';

type Headers = Answer['headers'];

const XML: Headers = [['Content-Type', 'text/xml; charset=utf-8']];
const TEXT: Headers = [['Content-Type', 'text/plain; charset=utf-8']];

/** 200 with XML: the WSDL, or a response. */
export function xmlAnswer(bytes: Uint8Array): Answer {
  return { status: 200, headers: XML, body: wholeBody(bytes) };
}

/** 200 with the response of an operation. */
export function response(operation: Operation, results: readonly Result[]): Answer {
  return xmlAnswer(responseBytes(operation, results));
}

/** Every fault as its answer: 500 (SOAP 1.1, 6.2), but 503 and when to come again where the service is busy (A105). */
export const FAULT_ANSWERS: Readonly<Record<FaultName, Answer>> = faultAnswers();

function faultAnswers(): Record<FaultName, Answer> {
  const answers = Object.entries(FAULTS).map(([name, fault]): [string, Answer] => [
    name,
    { status: 500, headers: XML, body: wholeBody(faultBytes(fault)) },
  ]);
  // One entry for each key of the table.
  const faults = Object.fromEntries(answers) as Record<FaultName, Answer>;
  return { ...faults, busy: { ...faults.busy, status: 503, headers: [...XML, ['Retry-After', '1']] } };
}

/** 405: the service is asked with POST, its WSDL with GET or HEAD. */
export const METHOD_NOT_ALLOWED = refusal(405, 'The attribute authority answers GET, HEAD and POST.', [
  ['Allow', 'GET, HEAD, POST'],
]);

/** 415 to another media type. */
export const NOT_XML = refusal(415, 'The attribute authority takes SOAP 1.1 as text/xml.');

/** 415 to a compressed body. */
export const ENCODED_BODY = refusal(415, 'The attribute authority takes bodies without Content-Encoding.');

/** 413. */
export const TOO_LONG = refusal(413, 'The request is longer than the attribute authority takes.');

/** A refusal by HTTP, before SOAP: a sentence for people, as no SOAP client reads it (A96). */
function refusal(status: number, sentence: string, more: Headers = []): Answer {
  return { status, headers: [...TEXT, ...more], body: wholeBody(Buffer.from(`${sentence}\n`)) };
}

/** The answer of getTrustedHostInfo to a role that nothing maps to. */
export const NO_HOSTS = response(GET_TRUSTED_HOST_INFO, [[], '']);
const NO_ROLE = response(GET_TRUSTED_HOST_INFO, [[], 'No role was input']);

/**
 * The answers of getTrustedHostInfo to the roles of one configuration, and to none (''). Each is made when it is first
 * asked for, since a configuration may have 100,000; the cost is its bytes.
 */
export class TrustedHostAnswers {
  readonly #trustedHosts: Authority['trustedHosts'];
  readonly #made = new Map<string, Answer>([['', NO_ROLE]]);

  constructor({ trustedHosts }: Authority) {
    this.#trustedHosts = trustedHosts;
  }

  /** The answer to a role, or undefined where nothing maps to it. */
  to(role: string): Answer | undefined {
    const earlier = this.#made.get(role);
    const hosts = earlier ? undefined : this.#trustedHosts.get(role);
    if (!hosts) return earlier;
    const answer = response(GET_TRUSTED_HOST_INFO, [hosts, '']);
    this.#made.set(role, answer);
    return answer;
  }
}
