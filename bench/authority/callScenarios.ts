// The load scenarios of the attribute authority as a table: what it is asked over SOAP, what it must answer, the
// targets of the design. Its configuration and users are those of authorityFiles.ts. Measures nothing.
import type { CallScenario, HostsCall } from '../scenarios/scenario.ts';

/** Texts are the same in every request unless the call says what is new in them. */
const ORIGINAL = {
  operation: 'reqAuthorisation',
  who: 'user',
  roles: ['staff', 'data-reader'],
  provenance: 'original',
} as const;
const MAPPED = { ...ORIGINAL, who: 'visitor', roles: ['data-reader'], provenance: 'mapped' } as const;

/** The targets of the design in signatures, for texts that are known as for new ones. */
export const SIGNATURE_TARGETS = { original: { pass: 2, great: 1.5 }, mapped: { pass: 3.3, great: 2 } } as const;

const CALL = { grows: 'constant', requests: 800 } as const;
/**
 * What all but the first are measured in: that, since what is beside a signature differs more from machine to machine.
 * soapBench.ts has them in signatures.
 */
const MORE = { ...CALL, control: { scenario: 'authorise' } } as const;

/** The scenario that other SOAP servers can answer too. */
export const TRUSTED_HOSTS: CallScenario & { readonly call: HostsCall } = {
  name: 'trustedHosts',
  what: 'getTrustedHostInfo, two hosts',
  control: 'bare',
  grows: 'constant',
  requests: 6000,
  pass: 2.5,
  great: 1.7,
  call: {
    operation: 'getTrustedHostInfo',
    role: 'data-reader',
    hosts: [
      'Demonstration Partner:https://partner.example.org/attAuthority.wsdl:researcher',
      'Demonstration Archive:https://archive.example.org/attAuthority.wsdl:archivist, reader',
    ],
  },
};

/** All load scenarios of the authority. */
export const CALL_SCENARIOS: readonly CallScenario[] = [
  TRUSTED_HOSTS,
  {
    name: 'authorise',
    what: 'reqAuthorisation, roles of this site, chain known',
    ...CALL,
    ...SIGNATURE_TARGETS.original,
    control: 'signature',
    call: ORIGINAL,
  },
  {
    name: 'authoriseNew',
    what: 'reqAuthorisation, roles of this site, a new proxy each time',
    ...MORE,
    call: { ...ORIGINAL, freshness: 'proxy' },
  },
  {
    name: 'authoriseStranger',
    what: 'reqAuthorisation, roles of this site, a new user and proxy each time',
    ...MORE,
    call: { ...ORIGINAL, freshness: 'user' },
  },
  { name: 'authoriseMapped', what: 'reqAuthorisation, mapped roles, texts known', ...MORE, call: MAPPED },
  {
    name: 'authoriseMappedNew',
    what: 'reqAuthorisation, mapped roles, a new proxy and attribute certificate each time',
    ...MORE,
    call: { ...MAPPED, freshness: 'proxy' },
  },
  {
    name: 'authoriseMappedStranger',
    what: 'reqAuthorisation, mapped roles, a new user, proxy and attribute certificate each time',
    ...MORE,
    call: { ...MAPPED, freshness: 'user' },
  },
];
