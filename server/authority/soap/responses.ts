// Response envelopes written by hand: the one form that every SOAP toolkit tried reads (see the design's list of what
// breaks whom before changing a byte of it). Pure: values in, bytes out.
import { escapedText } from '../../../data/xml/text.ts';
import type { Fault } from './faults.ts';
import { NAMESPACES, type Operation } from './protocol.ts';

const { envelope, encoding, instance, schema, service } = NAMESPACES;
const HEAD =
  '<?xml version="1.0" encoding="UTF-8"?>\n' +
  `<SOAP-ENV:Envelope xmlns:SOAP-ENV="${envelope}" xmlns:SOAP-ENC="${encoding}" xmlns:xsi="${instance}" xmlns:xsd="${schema}">` +
  '<SOAP-ENV:Body>';
const TAIL = '</SOAP-ENV:Body></SOAP-ENV:Envelope>';

/** A result of an operation: text, or a list of texts. */
export type Result = string | readonly string[];

/** The response of an operation with its results in the order of `operation.results`. Cost: the bytes. */
export function responseBytes(operation: Operation, results: readonly Result[]): Uint8Array {
  const parts = operation.results.map(([name], i) => resultText(name, results[i] ?? ''));
  const tag = `ns1:${operation.name}Response`;
  return Buffer.from(
    `${HEAD}<${tag} xmlns:ns1="${service}" SOAP-ENV:encodingStyle="${encoding}">${parts.join('')}</${tag}>${TAIL}`,
  );
}

/** A fault; its entries are unqualified (SOAP 1.1, 4.4). */
export function faultBytes({ code, text, isOfBody }: Fault): Uint8Array {
  const detail = isOfBody ? '<detail/>' : '';
  return Buffer.from(
    `${HEAD}<SOAP-ENV:Fault><faultcode>SOAP-ENV:${code}</faultcode><faultstring>${escaped(text)}</faultstring>${detail}</SOAP-ENV:Fault>${TAIL}`,
  );
}

function resultText(name: string, result: Result): string {
  if (typeof result === 'string') return stringElement(name, result);
  const items = result.map((text) => stringElement('item', text)).join('');
  return `<${name} xsi:type="SOAP-ENC:Array" SOAP-ENC:arrayType="xsd:string[${result.length}]">${items}</${name}>`;
}

function stringElement(name: string, text: string): string {
  return `<${name} xsi:type="xsd:string">${escaped(text)}</${name}>`;
}

/** What no XML 1.0 document can hold, not even as a reference (XML 1.0, 2.2); lone surrogates apart. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const IMPOSSIBLE = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

/** Text as the content of an element; characters that XML cannot hold become U+FFFD (A98). */
export function escaped(text: string): string {
  return escapedText(text.toWellFormed().replace(IMPOSSIBLE, '\ufffd'));
}
