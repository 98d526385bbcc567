// SOAP clients of others that take their time: gSOAP and Apache Axis, which are compiled from the served WSDL first,
// and Perl, against the running service.
import { SOAP_CLIENTS } from '../support/soapClients.ts';
import { describeSoapClients } from '../support/soapClientSuite.ts';

describeSoapClients(SOAP_CLIENTS.filter(({ isSlow }) => isSlow));
