// The parts of the WSDL, with the names in the specification. The tests of SOAP clients compile it.
import { describe, expect, test } from 'vitest';
import { messageTree } from '../../../../../server/authority/soap/requests.ts';
import { wsdlBytes } from '../../../../../server/authority/soap/wsdl.ts';
import { childElements, type XmlElement } from '../../../../../data/xml/xml.ts';

function wsdl(baseUrl = 'https://aa.example.org/cat'): XmlElement {
  const root = messageTree(Buffer.from(wsdlBytes(baseUrl)).toString());
  if (typeof root === 'string') throw new Error(root);
  return root;
}

function attributes({ attributes: list }: XmlElement): Record<string, string> {
  return Object.fromEntries(list.map(({ local, value }) => [local, value]));
}

function children(element: XmlElement, local: string): readonly XmlElement[] {
  return childElements(element).filter((child) => child.local === local);
}

test('has the specified names', () => {
  const root = wsdl();
  expect(attributes(root)).toEqual({ name: 'attAuthority', targetNamespace: 'urn:attAuthority' });
  expect(children(root, 'portType').map(attributes)).toEqual([{ name: 'attAuthority' }]);
  expect(children(root, 'binding').map(attributes)).toEqual([
    { name: 'attAuthorityBinding', type: 'tns:attAuthority' },
  ]);
  const [service] = children(root, 'service');
  expect(attributes(service!)).toEqual({ name: 'attAuthorityService' });
  expect(attributes(childElements(service)[0]!)).toEqual({ name: 'attAuthority', binding: 'tns:attAuthorityBinding' });
});

test('has messages with the specified parts', () => {
  const messages = children(wsdl(), 'message').map((message) => [
    attributes(message)['name'],
    childElements(message).map((part) => Object.values(attributes(part))),
  ]);
  expect(messages).toEqual([
    [
      'reqAuthorisationRequest',
      [
        ['usrProxyCert', 'xsd:string'],
        ['usrAttCert', 'xsd:string'],
      ],
    ],
    [
      'reqAuthorisationResponse',
      [
        ['attCert', 'xsd:string'],
        ['statCode', 'xsd:string'],
        ['errMsg', 'xsd:string'],
      ],
    ],
    ['getTrustedHostInfoRequest', [['usrRole', 'xsd:string']]],
    [
      'getTrustedHostInfoResponse',
      [
        ['trustedHostInfo', 'tns:ArrayOf_xsd_string'],
        ['errMsg', 'xsd:string'],
      ],
    ],
  ]);
});

test('binds both operations as rpc, encoded, with their soapAction', () => {
  const [binding] = children(wsdl(), 'binding');
  const [style, ...operations] = childElements(binding);
  expect(attributes(style!)).toEqual({ style: 'rpc', transport: 'http://schemas.xmlsoap.org/soap/http' });
  const bound = operations.map((operation) => [
    attributes(operation)['name'],
    attributes(children(operation, 'operation')[0]!),
    ...['input', 'output'].map((way) => attributes(childElements(children(operation, way)[0])[0]!)),
  ]);
  const body = {
    use: 'encoded',
    namespace: 'urn:attAuthority',
    encodingStyle: 'http://schemas.xmlsoap.org/soap/encoding/',
  };
  expect(bound).toEqual([
    ['reqAuthorisation', { soapAction: 'urn:attAuthority#reqAuthorisation' }, body, body],
    ['getTrustedHostInfo', { soapAction: 'urn:attAuthority#getTrustedHostInfo' }, body, body],
  ]);
});

test('declares the array type as a restriction, and imports the encoding namespace without a location', () => {
  const [schema] = children(children(wsdl(), 'types')[0]!, 'schema');
  const [imported, type] = childElements(schema);
  expect(attributes(imported!)).toEqual({ namespace: 'http://schemas.xmlsoap.org/soap/encoding/' });
  expect(attributes(type!)).toEqual({ name: 'ArrayOf_xsd_string' });
  const restriction = childElements(childElements(type)[0])[0]!;
  expect(attributes(restriction)).toEqual({ base: 'SOAP-ENC:Array' });
  expect(attributes(childElements(restriction)[0]!)).toEqual({ ref: 'SOAP-ENC:arrayType', arrayType: 'xsd:string[]' });
});

describe('the address in the WSDL', () => {
  test.each(['https://aa.example.org/cat', 'http://localhost:8080', "http://h/a&b'c"])('is below %s', (baseUrl) => {
    const port = childElements(children(wsdl(baseUrl), 'service')[0])[0]!;
    expect(attributes(childElements(port)[0]!)).toEqual({ location: `${baseUrl}/attAuthority.wsdl` });
  });
});
