// SOAP clients of others that are quick: PHP, Python and Node, against the running service.
import { SOAP_CLIENTS } from '../support/soapClients.ts';
import { describeSoapClients } from '../support/soapClientSuite.ts';

describeSoapClients(SOAP_CLIENTS.filter(({ isSlow }) => !isSlow));
