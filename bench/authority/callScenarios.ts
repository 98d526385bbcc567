// The load scenarios of the attribute authority: SOAP calls, expected responses, and targets of the design.
// authorityFiles.ts has its configuration and users.
import type { CallScenario, HostsCall } from '../scenarios/scenario.ts';

const ORIGINAL = {
  operation: 'reqAuthorisation',
  who: 'user',
  roles: ['staff', 'data-reader'],
  provenance: 'original',
} as const;
const MAPPED = { ...ORIGINAL, who: 'visitor', roles: ['data-reader'], provenance: 'mapped' } as const;

/** The targets of the design, in signatures. */
export const SIGNATURE_TARGETS = { original: { pass: 2.2, great: 1.5 }, mapped: { pass: 4.5, great: 2 } } as const;

const CALL = { grows: 'constant', requests: 800 } as const;

/** The scenario that other SOAP servers support too. */
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
    what: 'reqAuthorisation, roles of this site',
    ...CALL,
    ...SIGNATURE_TARGETS.original,
    control: 'signature',
    call: ORIGINAL,
  },
  {
    name: 'authoriseMapped',
    what: 'reqAuthorisation, mapped roles',
    ...CALL,
    control: { scenario: 'authorise' },
    call: MAPPED,
  },
];
