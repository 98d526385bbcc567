// The answers over HTTP that serving threads give for the attribute authority: faults, refusals, and what it wrote.
import { wholeBody } from '../../../engine/engine.ts';
import type { Answer } from '../../http/exchange.ts';
import type { Reply } from '../authority.ts';
import { FAULTS, type FaultName } from './faults.ts';
import { faultBytes } from './responses.ts';
import { OUTCOME } from './tally.ts';

type Headers = Answer['headers'];

const XML: Headers = [['Content-Type', 'text/xml; charset=utf-8']];
const TEXT: Headers = [['Content-Type', 'text/plain; charset=utf-8']];

/** 200 with XML: the WSDL, or a response. */
export function xmlAnswer(bytes: Uint8Array): Answer {
  return { status: 200, headers: XML, body: wholeBody(bytes) };
}

/** Every fault as its answer: 500 (SOAP 1.1, 6.2), or 503 with Retry-After if the client should try again (A105). */
export const FAULT_ANSWERS: Readonly<Record<FaultName, Answer>> = faultAnswers();

function faultAnswers(): Record<FaultName, Answer> {
  const answers = Object.entries(FAULTS).map(([name, fault]): [string, Answer] => [
    name,
    { status: 500, headers: XML, body: wholeBody(faultBytes(fault)) },
  ]);
  // One entry for each key of the table.
  const faults = Object.fromEntries(answers) as Record<FaultName, Answer>;
  const later = { status: 503, headers: [...XML, ['Retry-After', '1']] } as const;
  return { ...faults, busy: { ...faults.busy, ...later }, away: { ...faults.away, ...later } };
}

/** A response over HTTP, and the cell of OUTCOME that counts it. */
export interface Outcome {
  readonly answer: Answer;
  readonly cell: number;
}

/** What the client gets for a reply of the authority thread. */
export function outcomeOf(reply: Reply): Outcome {
  return 'fault' in reply
    ? { answer: FAULT_ANSWERS[reply.fault], cell: OUTCOME[FAULTS[reply.fault].code] }
    : { answer: xmlAnswer(reply.bytes), cell: reply.outcome };
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
