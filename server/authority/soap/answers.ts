// The responses of the SOAP service, as XML and over HTTP.
import { escapeText } from '../../../data/xml/xml.ts';
import { type Fault, type FaultName, FAULTS } from './faults.ts';
import { NAMESPACES, type Operation } from './protocol.ts';
import { wholeBody } from '../../../engine/engine.ts';
import type { Answer } from '../../http/exchange.ts';
import type { Reply } from '../authority.ts';
import { OUTCOME } from './tally.ts';

const { envelope, encoding, instance, schema, service } = NAMESPACES;
const HEAD =
  '<?xml version="1.0" encoding="UTF-8"?>\n' +
  `<SOAP-ENV:Envelope xmlns:SOAP-ENV="${envelope}" xmlns:SOAP-ENC="${encoding}" xmlns:xsi="${instance}" xmlns:xsd="${schema}">` +
  '<SOAP-ENV:Body>';
const TAIL = '</SOAP-ENV:Body></SOAP-ENV:Envelope>';

export type Result = string | readonly string[];

/** `results` are in the order of `operation.results`. Cost: linear in the size of the response. */
export function responseBytes(operation: Operation, results: readonly Result[]): Uint8Array {
  const parts = operation.results.map(([name], i) => resultText(name, results[i] ?? ''));
  const tag = `ns1:${operation.name}Response`;
  return Buffer.from(
    `${HEAD}<${tag} xmlns:ns1="${service}" SOAP-ENV:encodingStyle="${encoding}">${parts.join('')}</${tag}>${TAIL}`,
  );
}

/** The children of a fault are unqualified (SOAP 1.1, 4.4). */
export function faultBytes({ code, text, isOfBody }: Fault): Uint8Array {
  const detail = isOfBody ? '<detail/>' : '';
  return Buffer.from(
    `${HEAD}<SOAP-ENV:Fault><faultcode>SOAP-ENV:${code}</faultcode><faultstring>${escapeXml(text)}</faultstring>${detail}</SOAP-ENV:Fault>${TAIL}`,
  );
}

function resultText(name: string, result: Result): string {
  if (typeof result === 'string') return stringElement(name, result);
  const items = result.map((text) => stringElement('item', text)).join('');
  return `<${name} xsi:type="SOAP-ENC:Array" SOAP-ENC:arrayType="xsd:string[${result.length}]">${items}</${name}>`;
}

function stringElement(name: string, text: string): string {
  return `<${name} xsi:type="xsd:string">${escapeXml(text)}</${name}>`;
}

/** Characters that XML 1.0 cannot represent, not even by a reference (XML 1.0, 2.2), except lone surrogates. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const IMPOSSIBLE = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

/** Escapes the content of an element. Characters that XML cannot represent become U+FFFD (A98). */
export function escapeXml(text: string): string {
  return escapeText(text.toWellFormed().replace(IMPOSSIBLE, '\ufffd'));
}

type Headers = Answer['headers'];

const XML: Headers = [['Content-Type', 'text/xml; charset=utf-8']];
const TEXT: Headers = [['Content-Type', 'text/plain; charset=utf-8']];

export function xmlAnswer(bytes: Uint8Array): Answer {
  return { status: 200, headers: XML, body: wholeBody(bytes) };
}

/** The HTTP response of each fault: 500 (SOAP 1.1, 6.2), or 503 with Retry-After if the client should retry (A105). */
export const FAULT_ANSWERS: Readonly<Record<FaultName, Answer>> = makeFaultAnswers();

function makeFaultAnswers(): Record<FaultName, Answer> {
  const answers = Object.entries(FAULTS).map(([name, fault]): [string, Answer] => [
    name,
    { status: 500, headers: XML, body: wholeBody(faultBytes(fault)) },
  ]);
  // The keys are those of the table, which has all fault names.
  const faults = Object.fromEntries(answers) as Record<FaultName, Answer>;
  const later = { status: 503, headers: [...XML, ['Retry-After', '1']] } as const;
  return { ...faults, busy: { ...faults.busy, ...later }, away: { ...faults.away, ...later } };
}

export interface Outcome {
  readonly answer: Answer;
  readonly cell: number;
}

export function toOutcome(reply: Reply): Outcome {
  return 'fault' in reply
    ? { answer: FAULT_ANSWERS[reply.fault], cell: OUTCOME[FAULTS[reply.fault].code] }
    : { answer: xmlAnswer(reply.bytes), cell: reply.outcome };
}

export const METHOD_NOT_ALLOWED = refusal(405, 'The attribute authority answers GET, HEAD and POST.', [
  ['Allow', 'GET, HEAD, POST'],
]);

export const NOT_XML = refusal(415, 'The attribute authority takes SOAP 1.1 as text/xml.');

export const ENCODED_BODY = refusal(415, 'The attribute authority takes bodies without Content-Encoding.');

export const TOO_LONG = refusal(413, 'The request is longer than the attribute authority takes.');

/** An HTTP error before SOAP is reached: plain text, because no SOAP client reads it (A96). */
function refusal(status: number, sentence: string, headers: Headers = []): Answer {
  return { status, headers: [...TEXT, ...headers], body: wholeBody(Buffer.from(`${sentence}\n`)) };
}
