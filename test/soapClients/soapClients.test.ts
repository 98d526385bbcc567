// A SOAP client of others that needs no program, that of Node, against the running service; the others have
// soapClients.long.test.ts.
import { SOAP_CLIENTS } from '../support/soapClients.ts';
import { describeSoapClients } from '../support/soapClientSuite.ts';

describeSoapClients(SOAP_CLIENTS.filter(({ isSlow }) => !isSlow));
