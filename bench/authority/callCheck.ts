// Turns calls of the attribute authority into requests, and checks their responses before anything is measured.
// Requests are templates of what gSOAP sends. A general XML parser reads responses and xml-crypto verifies signatures,
// so no code of the product checks itself. Throws with the difference.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { SaxesParser } from 'saxes';
import { SignedXml } from 'xml-crypto';
import type { BenchAuthority, Credentials } from './authorityFiles.ts';
import { ask, type RightAnswers, type FetchedAnswer } from '../scenarios/check.ts';
import type { Exchange } from '../client/loadClient.ts';
import { markupEscaped } from '../client/markup.ts';
import type { SoapCall, HostsCall } from '../scenarios/scenario.ts';

/** Path of the service (spec, Service address). */
const SERVICE = '/attAuthority.wsdl';
/** Serial numbers are decimal and random, so responses with them differ by a few bytes in length. */
const SERIAL_SLACK_BYTES = 8;

/**
 * Sends a call twice and compares the responses with the expected ones. Cost: two responses, two signatures to verify.
 */
export async function checkCall(port: number, call: SoapCall, authority: BenchAuthority): Promise<RightAnswers> {
  const request = requestOf(call, authority);
  const answers: readonly FetchedAnswer[] = [await askCall(port, request), await askCall(port, request)];
  const [told, again] = answers.map(({ status, body }) => {
    assert.equal(status, 200, `the status of ${call.operation}: ${body.toString()}`);
    return call.operation === 'getTrustedHostInfo'
      ? checkHosts(call, body.toString())
      : checkAuthorisation(call, body.toString(), authority);
  });
  assert.equal(again, told, `${call.operation} has a second answer`);
  const bytes = answers[0]!.body.length;
  const isSigned = call.operation === 'reqAuthorisation';
  const exchange = { ...request, status: 200, bytes, ...(isSigned && { bytesSlack: SERIAL_SLACK_BYTES }) };
  return { exchanges: [exchange], hash: createHash('sha256').update(told!).digest('hex').slice(0, 16) };
}

/** The request part of an exchange. */
type CallRequest = Pick<Exchange, 'target' | 'headers' | 'body'>;

function askCall(port: number, { target, headers, body }: CallRequest): Promise<FetchedAnswer> {
  return ask(port, target, headers, body);
}

/** The request of a call as gSOAP would send it. */
function requestOf(call: SoapCall, { credentials }: BenchAuthority): CallRequest {
  const { operation } = call;
  const parts = operation === 'getTrustedHostInfo' ? { usrRole: call.role } : partsOf(credentials[call.who]);
  const texts = Object.entries(parts).map(([name, text]) => `<${name}>${markupEscaped(text)}</${name}>`);
  const body = `${HEAD}<ns1:${operation}>${texts.join('')}</ns1:${operation}></SOAP-ENV:Body></SOAP-ENV:Envelope>`;
  const headers = { 'Content-Type': 'text/xml; charset=utf-8', SOAPAction: `"urn:attAuthority#${operation}"` };
  return { target: SERVICE, headers, body };
}

const HEAD =
  '<?xml version="1.0" encoding="UTF-8"?>\n<SOAP-ENV:Envelope' +
  ' xmlns:SOAP-ENV="http://schemas.xmlsoap.org/soap/envelope/" xmlns:SOAP-ENC="http://schemas.xmlsoap.org/soap/encoding/"' +
  ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"' +
  ' xmlns:ns1="urn:attAuthority">' +
  '<SOAP-ENV:Body SOAP-ENV:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/">';

function partsOf({ chain, attributeCertificate }: Credentials): Readonly<Record<string, string>> {
  return { usrProxyCert: chain, usrAttCert: attributeCertificate };
}

type Leaf = readonly [name: string, text: string];

/** Elements without children, by local name, in document order. Throws if the text is not XML with namespaces. */
function leavesOf(text: string): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const parser = new SaxesParser({ xmlns: true });
  let own = '';
  let isLeaf = false;
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', () => ([own, isLeaf] = ['', true]));
  parser.on('text', (piece) => (own += piece));
  parser.on('closetag', ({ local }) => {
    if (isLeaf) leaves.push([local, own]);
    isLeaf = false;
  });
  parser.write(text).close();
  return leaves;
}

/** Checks that a response of this program or a peer names these hosts. Returns its content. */
function checkHosts({ hosts }: HostsCall, body: string): string {
  const leaves = leavesOf(body);
  assert.deepEqual(leaves, [...hosts.map((host) => ['item', host]), ['errMsg', '']], 'the trusted hosts');
  return JSON.stringify(leaves);
}

function checkAuthorisation(
  { roles, provenance, who }: Extract<SoapCall, { readonly operation: 'reqAuthorisation' }>,
  body: string,
  { certificate }: BenchAuthority,
): string {
  const results = leavesOf(body);
  assert.deepEqual(
    results.map(([name, text]) => (name === 'attCert' ? name : `${name} ${text}`)),
    ['attCert', 'statCode AccessGranted', 'errMsg '],
    'the results of reqAuthorisation',
  );
  const attCert = results[0]![1];
  assert(isSignedBy(attCert, certificate), 'the attribute certificate is not signed by the authority');
  const leaves = leavesOf(attCert);
  const valuesOf = (wanted: string): readonly string[] =>
    leaves.filter(([name]) => name === wanted).map(([, text]) => text);
  assert.deepEqual([valuesOf('name'), valuesOf('provenance')], [roles, [provenance]], 'the roles');
  const [holder = ''] = valuesOf('holder');
  assert(holder.endsWith(`/CN=Sample ${who === 'user' ? 'User' : 'Visitor'}`), `the holder is ${holder}`);
  return `${holder} ${roles.join()} ${provenance}`;
}

function isSignedBy(text: string, publicCert: string): boolean {
  const [signature] = /<Signature.*<\/Signature>/s.exec(text) ?? [];
  if (signature === undefined) return false;
  const signed = new SignedXml({ publicCert, getCertFromKeyInfo: () => null });
  signed.loadSignature(signature);
  return signed.checkSignature(text);
}
