// What the design leaves open about path validation, and what we chose. Plain data; numbered on from engine/schema/.
// Read by docs and tests; code cites it as `A72`.
import type { Assumption } from '../../../engine/engine.ts';

/** The assumptions of path validation, in the order of their numbers. */
export const PATH_ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'A70',
    topic: 'Profiles of certificates',
    choice:
      'The service judges by RFC 5280, section 6. `verify-cert` without an --allow flag also asks for what section 4 demands of those who issue: version 3, key identifiers, critical marks, CAs whose key usage lets them be ones, well-formed alternative names, serial numbers of 1 to 20 bytes; and it leaves open whether the certificate is that of a CA. With an --allow flag it judges as the service does, where a CA is no user.',
    why: 'The public suites want the stricter reading, certificates of grid CAs lack some of it, and none of it keeps an attacker out.',
  },
  {
    id: 'A71',
    topic: 'Weak algorithms',
    choice:
      'Weak are SHA-1 and MD5, RSA keys below 2,048 bits, curves below 256 bits and DSA, in every certificate of a path and every CRL; the signature on a configured CA is not looked at. Never supported are RSA beyond 8,192 bits or with an exponent beyond 2^32, curves that are not named, and other kinds of keys. The strict profile takes DSA below the configured CA, but not in the certificate of a server (serverAuth).',
    why: 'PKITS 4.1.4 wants a DSA chain accepted, limbo one of a server refused; a user’s chain has no reason for it. Bounds on keys bound the time of a validation.',
  },
  {
    id: 'A72',
    topic: 'Limits of a validation',
    choice:
      'A name has at most 64 attributes; a validation checks at most 128 signatures, takes 1,024 steps and makes 262,144 comparisons with name constraints; more is a refusal. Files of operators may have 4 MiB and 1,024 certificates, CRLs 64 MiB.',
    why: 'Chains in use need a tenth of the signatures and a hundredth of the rest, and a hostile one costs a fraction of a second.',
  },
  {
    id: 'A73',
    topic: 'Order of a chain',
    choice:
      'The presented certificate comes first; all others may stand in any order, several times, or belong to nobody. Of several paths one that is valid is enough. A text with anything that is no certificate is refused as a whole.',
    why: 'Tools of the time wrote chains in both directions; the first place is the only one that carries meaning.',
  },
  {
    id: 'A74',
    topic: 'Configured CAs',
    choice:
      'Any CA certificate may be configured, self-signed or not. It is judged like the others of a path: its validity, extensions and constraints count.',
    why: 'RFC 5280 leaves it open what else than name and key counts; an operator who configures an expired CA has forgotten it.',
  },
  {
    id: 'A75',
    topic: 'Depth of a path',
    choice: 'The intermediate CAs that are not self-issued count; 16 are allowed unless told otherwise.',
    why: 'This is how RFC 5280, section 6.1.4 l counts; a CA that changes its key should not lose depth.',
  },
  {
    id: 'A76',
    topic: 'Certificate policies',
    choice:
      'The initial policy set is any-policy, and nothing is required or inhibited from the start; so a path is refused for its policies only where one of its CAs requires an explicit policy and none is left, or maps any-policy. Of a configured CA the constraints count, its own policies do not.',
    why: 'No policy is configured, so that only what CAs ask of those below can be compared; configured CAs seldom name policies.',
  },
  {
    id: 'A77',
    topic: 'Kinds of proxies',
    choice:
      'All proxies of a chain are RFC 3820 ones or all are legacy ones; one limited proxy makes the chain limited; a limited legacy proxy needs both allowances. A policy beside inheritAll is refused.',
    why: 'The Globus Toolkit mixes no kinds either, and rights may only shrink.',
  },
  {
    id: 'A78',
    topic: 'Current CRLs',
    choice:
      'Every CA of a path, intermediate ones too, needs a CRL that is complete, signed by its key, by another that it certified for CRLs, or by a configured CA of its name, and between its two times; one without nextUpdate is never current. One restricted to users or to CAs counts for those; deltas, indirect lists and those of one address or reason count for nobody. A verdict holds until the first of them is out of date.',
    why: 'RFC 5280, section 6.3 leaves the status unknown otherwise, and unknown is refused.',
  },
  {
    id: 'A79',
    topic: 'Key identifiers in paths',
    choice: 'They say which issuer is tried first, and never refuse one whose key made the signature.',
    why: 'RFC 4158 calls them hints; CAs that were certified anew often keep the old ones.',
  },
];
