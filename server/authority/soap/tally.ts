// What the SOAP service counts of its answers: the outcomes, each a cell of a tally, and the metric that they make.
// Data only.
import type { TalliedMetric } from '../../observe/tally.ts';
import { GET_TRUSTED_HOST_INFO, REQ_AUTHORISATION } from './protocol.ts';

/** The cells: three of getTrustedHostInfo, three of reqAuthorisation by status, and those of faults by code. */
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

/** Answers by operation and status; a fault has the operation `none` and its code as status. */
export const SOAP_ANSWERS: TalliedMetric = {
  name: 'soap_answers_total',
  help: 'Answers of the attribute authority over SOAP, by operation and status.',
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
