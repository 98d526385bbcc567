// The audit of decisions: a line for each grant and for the first refusal of a kind, and counts of the other refusals.
import { beforeEach, expect, test } from 'vitest';
import { Audit } from '../../../../server/authority/audit.ts';
import { makeOutcome } from '../../../../server/authority/authorise.ts';
import type { AuthorisationRecord, RefusalsRepeated, ServiceEvent } from '../../../../server/observe/events.ts';

const REFUSED: AuthorisationRecord = {
  kind: 'authorisation',
  at: 0,
  status: 'AccessError',
  reason: 'userChain',
  sentence: 'No.',
  requestId: '',
  peer: '192.0.2.1',
  holder: '',
  claimed: '',
  proxy: '',
  site: '',
  roles: [],
  provenance: '',
  serialNumber: '',
  notAfter: 0,
  issuedDigest: '',
  chainDigest: '',
};
const GRANTED: AuthorisationRecord = {
  ...REFUSED,
  status: 'AccessGranted',
  reason: '',
  sentence: '',
  holder: '/CN=Ada',
};
const FULL = Object.assign(new Error('no space'), { code: 'ENOSPC' });

let written: ServiceEvent[];
let isFull: boolean;
let lost: ServiceEvent[];
let audit: Audit;
beforeEach(() => {
  [written, lost, isFull] = [[], [], false];
  audit = new Audit(
    (events) => {
      if (isFull) throw FULL;
      written.push(...events);
    },
    (events) => lost.push(...events),
  );
});

function record(times: number, of: AuthorisationRecord): void {
  for (let i = 0; i < times; i++) audit.record(makeOutcome(of));
}

const count = (of: Partial<RefusalsRepeated>): object => ({ kind: 'refusalsRepeated', peer: '192.0.2.1', ...of });

test('writes every grant, and the first refusal of each reason, peer and holder', () => {
  const others: readonly AuthorisationRecord[] = [
    { ...REFUSED, reason: 'userName' },
    { ...REFUSED, peer: '192.0.2.2' },
    { ...REFUSED, holder: '/CN=Ada' },
  ];
  record(3, GRANTED);
  for (const one of [REFUSED, ...others]) record(3, { ...one, claimed: `/CN=${Math.random()}`, sentence: 'Other.' });
  expect(written).toHaveLength(3 + 4);
});

test('writes one line each time for continuing refusals', () => {
  for (let minute = 0; minute < 3; minute++) {
    record(100, REFUSED);
    audit.writeCounts();
  }
  record(1, GRANTED);
  expect(written).toMatchObject([
    REFUSED,
    count({ reason: 'userChain', holder: '', repeated: 99 }),
    count({ repeated: 100 }),
    count({ repeated: 100 }),
    GRANTED,
  ]);
});

test('writes a refusal again if it comes a minute after the last of its kind', () => {
  record(1, REFUSED);
  audit.writeCounts();
  record(2, REFUSED);
  audit.writeCounts();
  audit.writeCounts();
  record(1, REFUSED);
  expect(written).toMatchObject([REFUSED, REFUSED, count({ repeated: 1 }), REFUSED]);
});

test('counts the refusals of more than 1,000 kinds together', () => {
  for (let i = 0; i < 5000; i++) record(2, { ...REFUSED, peer: `10.0.${i >> 8}.${i & 255}` });
  expect(written).toHaveLength(1000);
  audit.writeCounts();
  expect(written).toHaveLength(2001);
  expect(written.at(-1)).toMatchObject(count({ reason: '', peer: '', holder: '', repeated: 8000 }));
});

test('keeps counts that cannot be written', () => {
  record(5, REFUSED);
  isFull = true;
  audit.writeCounts();
  expect(audit.record(makeOutcome(GRANTED)).record).toMatchObject({ status: 'AccessError', reason: 'unrecorded' });
  expect(lost).toMatchObject([{ reason: 'unrecorded', holder: '/CN=Ada' }]);
  record(5, REFUSED);
  isFull = false;
  audit.writeCounts();
  expect(written).toMatchObject([REFUSED, count({ repeated: 9 })]);
});
