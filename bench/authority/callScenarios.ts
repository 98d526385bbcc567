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

const REQUESTS = 800;
/**
 * What all but the first are measured in: that, since what a signature costs beside all else differs from machine to
 * machine by twice. What is new in signatures, without HTTP, is bench/micro's.
 */
const MORE = { control: { scenario: 'authorise' }, grows: 'constant', requests: REQUESTS } as const;

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
    control: 'signature',
    grows: 'constant',
    requests: REQUESTS,
    pass: 2,
    great: 1.5,
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
