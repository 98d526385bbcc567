// Response envelopes byte for byte: every deviation breaks a client that was tried, so the test contains the bytes of
// the design.
import { describe, expect, test } from 'vitest';
import { FAULTS } from '../../../../../server/authority/soap/faults.ts';
import { GET_TRUSTED_HOST_INFO, REQ_AUTHORISATION } from '../../../../../server/authority/soap/protocol.ts';
import { faultBytes, responseBytes } from '../../../../../server/authority/soap/answers.ts';
import { messageTree } from '../../../../../server/authority/soap/requests.ts';
import { childElements, textContent } from '../../../../../data/xml/xml.ts';

const START =
  '<?xml version="1.0" encoding="UTF-8"?>\n<SOAP-ENV:Envelope xmlns:SOAP-ENV="http://schemas.xmlsoap.org/soap/envelope/" xmlns:SOAP-ENC="http://schemas.xmlsoap.org/soap/encoding/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"><SOAP-ENV:Body>';
const END = '</SOAP-ENV:Body></SOAP-ENV:Envelope>';

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}

test('writes a list of two as every toolkit reads it', () => {
  expect(text(responseBytes(GET_TRUSTED_HOST_INFO, [['A', 'B'], '']))).toBe(
    `${START}<ns1:getTrustedHostInfoResponse xmlns:ns1="urn:attAuthority" SOAP-ENV:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><trustedHostInfo xsi:type="SOAP-ENC:Array" SOAP-ENC:arrayType="xsd:string[2]"><item xsi:type="xsd:string">A</item><item xsi:type="xsd:string">B</item></trustedHostInfo><errMsg xsi:type="xsd:string"></errMsg></ns1:getTrustedHostInfoResponse>${END}`,
  );
});

test('gives an empty list no items and the size 0', () => {
  expect(text(responseBytes(GET_TRUSTED_HOST_INFO, [[], 'No role was input']))).toBe(
    `${START}<ns1:getTrustedHostInfoResponse xmlns:ns1="urn:attAuthority" SOAP-ENV:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><trustedHostInfo xsi:type="SOAP-ENC:Array" SOAP-ENC:arrayType="xsd:string[0]"></trustedHostInfo><errMsg xsi:type="xsd:string">No role was input</errMsg></ns1:getTrustedHostInfoResponse>${END}`,
  );
});

test('puts three strings into an authorisation, never nil', () => {
  expect(text(responseBytes(REQ_AUTHORISATION, ['<a>1</a>', 'AccessGranted', '']))).toBe(
    `${START}<ns1:reqAuthorisationResponse xmlns:ns1="urn:attAuthority" SOAP-ENV:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><attCert xsi:type="xsd:string">&lt;a&gt;1&lt;/a&gt;</attCert><statCode xsi:type="xsd:string">AccessGranted</statCode><errMsg xsi:type="xsd:string"></errMsg></ns1:reqAuthorisationResponse>${END}`,
  );
});

test('gives a fault unqualified entries, and an empty detail only if the Body is at fault', () => {
  expect(text(faultBytes(FAULTS.noOperation))).toBe(
    `${START}<SOAP-ENV:Fault><faultcode>SOAP-ENV:Client</faultcode><faultstring>${FAULTS.noOperation.text}</faultstring><detail/></SOAP-ENV:Fault>${END}`,
  );
  expect(text(faultBytes(FAULTS.illFormed))).toBe(
    `${START}<SOAP-ENV:Fault><faultcode>SOAP-ENV:Client</faultcode><faultstring>${FAULTS.illFormed.text}</faultstring></SOAP-ENV:Fault>${END}`,
  );
});

describe.each(Object.entries(FAULTS))('the fault %s', (_, fault) => {
  test('is a sentence within well-formed XML', () => {
    expect(fault.text).toMatch(/^[A-Z].*[.]$/);
    expect(messageTree(text(faultBytes(fault)))).toMatchObject({ local: 'Envelope' });
  });
});

test.each([
  ['markup', `a & b <c> "d" 'e' ]]>`, `a &amp; b &lt;c&gt; "d" 'e' ]]&gt;`],
  ['line ends', 'a\r\nb\nc\td', 'a&#xD;\nb\nc\td'],
  ['other scripts', 'Å 日本 𝄞', 'Å 日本 𝄞'],
  ['text that XML forbids', '\0\x0b\x1f\ufffe\uffff\ud834x', '\ufffd\ufffd\ufffd\ufffd\ufffd\ufffdx'],
])('escapes %s in a result so that it is read back', (_, sent, written) => {
  const bytes = responseBytes(REQ_AUTHORISATION, ['', '', sent]);
  expect(text(bytes)).toContain(`<errMsg xsi:type="xsd:string">${written}</errMsg>`);
  const root = messageTree(text(bytes));
  const read =
    typeof root === 'string' ? root : textContent(childElements(childElements(childElements(root)[0])[0])[2]);
  expect(read).toBe(written.includes('\ufffd') ? written : sent);
});
