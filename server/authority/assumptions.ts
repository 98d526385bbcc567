// What the specification of the attribute authority and its design leave open about decisions, certificates and
// configurations, and what we chose. Plain data; numbered on from engine/schema/. Read by docs and tests; code cites it
// as `A83`.
import type { Assumption } from '../../engine/engine.ts';

/** The assumptions of the authority, in the order of their numbers. */
export const AUTHORITY_ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'A80',
    topic: 'Names of users and signers',
    choice:
      'Two names are the same when they have the same `type=value` attributes, each as often, in whatever order; case of values counts. The issuer and holder of an attribute certificate are compared in this way too.',
    why: 'The tools of the time wrote names in both orders, and a name with an attribute twice is another name.',
  },
  {
    id: 'A81',
    topic: 'What an external attribute certificate may look like',
    choice:
      'No attributes, namespaces or processing instructions in the signed part; one namespace declaration, on Signature; no attribute but Algorithm and URI; Canonical XML 1.0 or exclusive, both without comments; KeyInfo holds one certificate and may repeat its names, which must be right. ECDSA P-256 and RSA-SHA1 are accepted where externalSignatures names them.',
    why: 'In this form both canonicalisations are the same few lines, and nothing can stand in the text that is not read.',
  },
  {
    id: 'A82',
    topic: 'Directory of CRLs',
    choice:
      'Files that end in .crl, .pem, .der or .r and digits are read, each as CRLs only; others are ignored. A file that cannot be read is a mistake. The directory is looked at every minute, and all is reloaded where it has changed.',
    why: 'Grid directories hold CAs and policies beside CRLs, and CRLs come by clockwork: with none that is current, nobody gets in.',
  },
  {
    id: 'A83',
    topic: 'Serial numbers',
    choice: '96 random bits, decimal.',
    why: 'Restarts and replicas then need not know of each other: 200 certificates a second for ten years repeat one with a probability of 1 in 40 million.',
  },
  {
    id: 'A84',
    topic: 'Reload',
    choice:
      'SIGHUP reads all files again. They are checked as a whole; with any mistake the configuration before goes on and the mistakes are told. Requests that came before are answered by the configuration before. Without a configured authority SIGHUP ends the process as ever.',
    why: 'Files that are watched are read half written.',
    setting: 'authority',
  },
  {
    id: 'A85',
    topic: 'Too many requests at once',
    choice:
      'Beyond 128 requests to be authorised in one serving thread, the answer is AccessError, asking to try again.',
    why: 'Faults are for the message level only, and old clients know nothing else.',
  },
  {
    id: 'A86',
    topic: 'Algorithm of signatures',
    choice:
      'RSA-SHA256 where the configured key is an RSA key, ECDSA with SHA-256 where it is one of P-256; no other key is accepted.',
    why: 'A setting beside the key could only contradict it.',
  },
  {
    id: 'A87',
    topic: 'The file of users',
    choice:
      'A line each, `"/O=Site/CN=Name" role, role`, in UTF-8; empty lines and those that begin with # are ignored. Naming a user twice, there or in the table users, is a mistake.',
    why: 'Grid map files have this form, and two entries of one user are a slip that nobody would see.',
  },
  {
    id: 'A88',
    topic: 'What is recorded of a decision',
    choice:
      "Time, status, reason, the user's name, roles, provenance, serial number, end of validity, and SHA-256 of what was sent as usrProxyCert and of what was issued.",
    why: 'The digests tell which text it was to whoever has it, and nothing to anybody else.',
    setting: 'auditLog',
  },
];
