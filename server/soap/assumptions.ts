// What the specification of the attribute authority and its design leave open about messages, and what we chose.
// Plain data; numbered on from engine/schema/. Read by docs and tests; code cites it as `A93`.
import type { Assumption } from '../../engine/engine.ts';

/** The assumptions of the SOAP service, in the order of their numbers. */
export const SOAP_ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'A90',
    topic: 'Processing instructions in requests',
    choice: 'They are a Client fault, as a document type declaration is.',
    why: 'SOAP 1.1, 3 forbids both, and no client sends one.',
  },
  {
    id: 'A91',
    topic: 'Encoding of requests',
    choice:
      'A byte order mark decides, then the charset of Content-Type, then the XML declaration, then UTF-8; known are UTF-8, UTF-16 and, where they are named, US-ASCII (as UTF-8) and ISO-8859-1.',
    why: 'RFC 7303, 3 puts the mark first; ISO-8859-1 is what old clients declare when they do not send UTF-8.',
  },
  {
    id: 'A92',
    topic: 'SOAPAction',
    choice: 'It is not looked at, not even where it names the other operation.',
    why: 'Clients leave it out, empty, unquoted or wrong, and the Body says which operation is meant.',
  },
  {
    id: 'A93',
    topic: 'Which child of the Body is the operation',
    choice:
      'The one without an id and without root="0" of the encoding namespace, or with root="1"; where all children are referenced values by that rule, all count.',
    why: 'Clients with references put the referenced values beside the operation (SOAP 1.1, 5.6).',
  },
  {
    id: 'A94',
    topic: 'Attributes of an element',
    choice: 'At most 64 are read; more are a Client fault.',
    why: 'Clients declare up to 10 namespaces on an element, and a flood of attributes is an attack.',
  },
  {
    id: 'A95',
    topic: 'What stands outside of Header, Body and parts',
    choice:
      'Text between elements, elements of the Envelope beside Header and Body, and attributes nobody knows are ignored.',
    why: 'SOAP 1.1, 4 allows further elements, and none of it changes what is asked.',
  },
  {
    id: 'A96',
    topic: 'Bodies of 405, 413 and 415',
    choice: 'One sentence as text/plain.',
    why: 'They are answers of HTTP, not of SOAP; toolkits show them as they are.',
  },
  {
    id: 'A97',
    topic: 'mustUnderstand="true"',
    choice: 'It counts as "1".',
    why: 'Toolkits that take the attribute for a boolean write it so, and to ignore a demand is the worse mistake.',
  },
  {
    id: 'A98',
    topic: 'Characters that XML cannot hold, in answers',
    choice: 'They become U+FFFD.',
    why: 'One control character in a configured name would make every answer with it unreadable.',
  },
  {
    id: 'A99',
    topic: 'No attribute authority configured',
    choice: 'Its path is answered 404 like any unknown path.',
    why: 'A replica without one has nothing to say there, and a WSDL would promise what it does not do.',
  },
];
