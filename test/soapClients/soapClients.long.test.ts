// SOAP clients of others against the running service: that of Node, PHP, Python and Perl, and gSOAP and Apache Axis,
// which are compiled from the served WSDL first.
import { SOAP_CLIENTS } from '../support/soapClients.ts';
import { describeSoapClients } from '../support/soapClientSuite.ts';

describeSoapClients(SOAP_CLIENTS);
