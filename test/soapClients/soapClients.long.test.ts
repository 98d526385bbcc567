// SOAP clients of others that are compiled from the served WSDL first: gSOAP and Apache Axis, against the running
// service.
import { SOAP_CLIENTS } from '../support/soapClients.ts';
import { describeSoapClients } from '../support/soapClientSuite.ts';

describeSoapClients(SOAP_CLIENTS.filter(({ isSlow }) => isSlow));
