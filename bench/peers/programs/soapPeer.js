// A SOAP server by the npm package soap over node:http, a peer: answers getTrustedHostInfo with what it is told.
// Arguments: the file of the WSDL, the role, then a string for each trusted host. Run by this project's Node and
// packages.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import soap from 'soap';

const [file, role, ...hosts] = process.argv.slice(2);
// The package declares neither namespace.
const ARRAY = {
  'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
  'xmlns:SOAP-ENC': 'http://schemas.xmlsoap.org/soap/encoding/',
  'xsi:type': 'SOAP-ENC:Array',
  'SOAP-ENC:arrayType': `xsd:string[${hosts.length}]`,
};

function getTrustedHostInfo({ usrRole }) {
  // A part with attributes is an object around its text.
  const asked = usrRole?.$value ?? usrRole;
  if (asked !== role) return { trustedHostInfo: {}, errMsg: asked ? '' : 'No role was input' };
  return { trustedHostInfo: { attributes: ARRAY, item: hosts }, errMsg: '' };
}

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  soap.listen(server, {
    path: '/attAuthority.wsdl',
    services: { attAuthorityService: { attAuthority: { getTrustedHostInfo } } },
    xml: readFileSync(file, 'utf8'),
    enableChunkedEncoding: false,
    callback: () => process.stdout.write(`listening on http://127.0.0.1:${server.address().port} \n`),
  });
});
