import type { TalliedMetric } from '../../observe/tally.ts';
import { GET_TRUSTED_HOST_INFO, REQ_AUTHORISATION } from './protocol.ts';

/** The cells of the tally: three for getTrustedHostInfo, three for reqAuthorisation by status, and faults by code. */
export const OUTCOME = {
  listed: 0,
  unknownRole: 1,
  noRole: 2,
  AccessGranted: 3,
  AccessDenied: 4,
  AccessError: 5,
  Client: 6,
  VersionMismatch: 7,
  MustUnderstand: 8,
  Server: 9,
} as const;

/** Responses by operation and status. A fault has the operation `none` and its code as status. */
export const SOAP_ANSWERS: TalliedMetric = {
  name: 'soap_answers_total',
  help: 'Responses of the attribute authority over SOAP, by operation and status.',
  cells: Object.entries(OUTCOME).map(([status, cell]) => ({
    operation:
      cell < OUTCOME.AccessGranted
        ? GET_TRUSTED_HOST_INFO.name
        : cell < OUTCOME.Client
          ? REQ_AUTHORISATION.name
          : 'none',
    status,
  })),
};
