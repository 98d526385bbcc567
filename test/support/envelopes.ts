// SOAP requests as texts: the requests of real toolkits, and a maker of others. It uses nothing of the product, so it
// can check it.

export const ENVELOPE = 'http://schemas.xmlsoap.org/soap/envelope/';
const ENCODING = 'http://schemas.xmlsoap.org/soap/encoding/';
const XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
const XSD = 'xmlns:xsd="http://www.w3.org/2001/XMLSchema"';
const STYLE = `encodingStyle="${ENCODING}"`;

/** An envelope around the content of its Body; `header` precedes the Body, `attributes` go on the Envelope. */
export function envelope(body: string, { header = '', attributes = '' } = {}): string {
  return `<s:Envelope xmlns:s="${ENVELOPE}" ${attributes}>${header}<s:Body>${body}</s:Body></s:Envelope>`;
}

/** A call of an operation with the content of its element. */
export function call(operation: string, parts: string, attributes = ''): string {
  return envelope(`<q:${operation} xmlns:q="urn:attAuthority"${attributes}>${parts}</q:${operation}>`);
}

/** A call of getTrustedHostInfo with this content of its part. */
export function roleCall(role: string): string {
  return call('getTrustedHostInfo', `<usrRole>${role}</usrRole>`);
}

/** getTrustedHostInfo for the role `academic` as toolkits write it, by the name of the toolkit. */
export const TOOLKIT_ENVELOPES: Readonly<Record<string, string>> = {
  gsoap: `<?xml version="1.0" encoding="UTF-8"?>
<SOAP-ENV:Envelope xmlns:SOAP-ENV="${ENVELOPE}" xmlns:SOAP-ENC="${ENCODING}" ${XSI} ${XSD} xmlns:ns1="urn:attAuthority"><SOAP-ENV:Body SOAP-ENV:${STYLE}><ns1:getTrustedHostInfo><usrRole>academic</usrRole></ns1:getTrustedHostInfo></SOAP-ENV:Body></SOAP-ENV:Envelope>`,
  php: `<?xml version="1.0" encoding="UTF-8"?>
<SOAP-ENV:Envelope xmlns:SOAP-ENV="${ENVELOPE}" xmlns:ns1="urn:attAuthority" ${XSD} ${XSI} xmlns:SOAP-ENC="${ENCODING}" SOAP-ENV:${STYLE}><SOAP-ENV:Body><ns1:getTrustedHostInfo><usrRole xsi:type="xsd:string">academic</usrRole></ns1:getTrustedHostInfo></SOAP-ENV:Body></SOAP-ENV:Envelope>
`,
  'SOAP::Lite': `<?xml version="1.0" encoding="UTF-8"?><soap:Envelope soap:${STYLE} xmlns:soap="${ENVELOPE}" xmlns:soapenc="${ENCODING}" ${XSD} ${XSI}><soap:Body><getTrustedHostInfo xmlns="urn:attAuthority"><usrRole xsi:type="xsd:string">academic</usrRole></getTrustedHostInfo></soap:Body></soap:Envelope>`,
  zeep: `<?xml version='1.0' encoding='utf-8'?>
<soap-env:Envelope xmlns:soap-env="${ENVELOPE}"><soap-env:Body><ns0:getTrustedHostInfo xmlns:ns0="urn:attAuthority" soap-env:${STYLE}><usrRole>academic</usrRole></ns0:getTrustedHostInfo></soap-env:Body></soap-env:Envelope>`,
  axis: `<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="${ENVELOPE}" ${XSD} ${XSI}><soapenv:Body><ns1:getTrustedHostInfo soapenv:${STYLE} xmlns:ns1="urn:attAuthority"><usrRole xsi:type="soapenc:string" xmlns:soapenc="${ENCODING}">academic</usrRole></ns1:getTrustedHostInfo></soapenv:Body></soapenv:Envelope>`,
  'node soap': `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="${ENVELOPE}" ${XSI} xmlns:tns="urn:attAuthority"><soap:Body><tns:getTrustedHostInfo xmlns:tns="urn:attAuthority"><usrRole>academic</usrRole></tns:getTrustedHostInfo></soap:Body></soap:Envelope>`,
  references: `<?xml version="1.0" encoding="utf-8"?>
<soap:Envelope ${XSI} ${XSD} xmlns:soapenc="${ENCODING}" xmlns:tns="urn:attAuthority" xmlns:soap="${ENVELOPE}"><soap:Header/><soap:Body soap:${STYLE}><tns:getTrustedHostInfo><usrRole href="#id0"/></tns:getTrustedHostInfo><multiRef id="id0" soapenc:root="0" xsi:type="xsd:string">academic</multiRef></soap:Body></soap:Envelope>`,
  pretty: `<?xml version="1.0"?>
<SOAP-ENV:Envelope
   xmlns:SOAP-ENV="${ENVELOPE}"
   xmlns:env="${ENVELOPE}"
   ${XSI}
   ${XSD}
   env:${STYLE}>
  <env:Header
  >
  </env:Header>
  <SOAP-ENV:Body>
    <m:getTrustedHostInfo xmlns:m="urn:attAuthority">
      <usrRole
        xsi:type="xsd:string"
      >academic</usrRole
      >
    </m:getTrustedHostInfo>
  </SOAP-ENV:Body>
</SOAP-ENV:Envelope>
`,
};

/** Replaces the entities of XML in a text. */
export function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&#xD;', '\r').replaceAll('&amp;', '&');
}
