// The WSDL 1.1 document of the service (spec 4), in a form that all tested WSDL compilers accept.
import { NAMESPACES, type Operation, OPERATIONS, SERVICE_PATH } from './protocol.ts';
import { escapeXml } from './answers.ts';

const NAME = 'attAuthority';
const ARRAY = 'ArrayOf_xsd_string';
const TYPES = { string: 'xsd:string', strings: `tns:${ARRAY}` } as const;

/** The array type imports the encoding namespace without a location, because every client knows it. */
export function wsdlBytes(baseUrl: string): Uint8Array {
  const { service, schema, encoding } = NAMESPACES;
  return Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>
<wsdl:definitions name="${NAME}" targetNamespace="${service}" xmlns:tns="${service}" xmlns:xsd="${schema}" xmlns:SOAP-ENC="${encoding}" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/">
  <wsdl:types>
    <xsd:schema targetNamespace="${service}">
      <xsd:import namespace="${encoding}"/>
      <xsd:complexType name="${ARRAY}">
        <xsd:complexContent>
          <xsd:restriction base="SOAP-ENC:Array">
            <xsd:attribute ref="SOAP-ENC:arrayType" wsdl:arrayType="xsd:string[]"/>
          </xsd:restriction>
        </xsd:complexContent>
      </xsd:complexType>
    </xsd:schema>
  </wsdl:types>
${OPERATIONS.map(messages).join('\n')}
  <wsdl:portType name="${NAME}">
${OPERATIONS.map(portOperation).join('\n')}
  </wsdl:portType>
  <wsdl:binding name="${NAME}Binding" type="tns:${NAME}">
    <soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>
${OPERATIONS.map(boundOperation).join('\n')}
  </wsdl:binding>
  <wsdl:service name="${NAME}Service">
    <wsdl:port name="${NAME}" binding="tns:${NAME}Binding">
      <soap:address location="${attribute(baseUrl + SERVICE_PATH)}"/>
    </wsdl:port>
  </wsdl:service>
</wsdl:definitions>
`);
}

function messages({ name, parts, results }: Operation): string {
  const requested = parts.map((part) => partLine(part, 'string'));
  return `${message(`${name}Request`, requested)}\n${message(
    `${name}Response`,
    results.map(([part, type]) => partLine(part, type)),
  )}`;
}

function message(name: string, lines: readonly string[]): string {
  return `  <wsdl:message name="${name}">\n${lines.join('\n')}\n  </wsdl:message>`;
}

function partLine(name: string, type: keyof typeof TYPES): string {
  return `    <wsdl:part name="${name}" type="${TYPES[type]}"/>`;
}

function portOperation({ name }: Operation): string {
  return `    <wsdl:operation name="${name}">
      <wsdl:input message="tns:${name}Request"/>
      <wsdl:output message="tns:${name}Response"/>
    </wsdl:operation>`;
}

function boundOperation({ name }: Operation): string {
  const body = `<soap:body use="encoded" namespace="${NAMESPACES.service}" encodingStyle="${NAMESPACES.encoding}"/>`;
  return `    <wsdl:operation name="${name}">
      <soap:operation soapAction="${NAMESPACES.service}#${name}"/>
      <wsdl:input>${body}</wsdl:input>
      <wsdl:output>${body}</wsdl:output>
    </wsdl:operation>`;
}

function attribute(text: string): string {
  return escapeXml(text).replaceAll('"', '&quot;');
}
