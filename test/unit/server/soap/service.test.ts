// What the SOAP service answers to a request that it knows by its bytes: what it answered the first time, each one
// counted.
import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import type { Authority } from '../../../../server/authority/authority.ts';
import { type Answer, isIntake, type Request } from '../../../../server/http/exchange.ts';
import { soapHandler } from '../../../../server/soap/service.ts';
import { OUTCOME, SOAP_ANSWERS } from '../../../../server/soap/tally.ts';
import { newTally } from '../../../../server/observe/tally.ts';
import { call, roleCall } from '../../../support/envelopes.ts';
import { memoryAuthority } from '../../../support/memoryAuthority.ts';

function serviceOf(authority: () => Authority) {
  const tally = newTally(SOAP_ANSWERS);
  const settings = { baseUrl: 'http://localhost', soapBodyBytesMax: 65_536 };
  const otherwise = (): never => assert.fail('the path is the service’s');
  const handler = soapHandler({ authority, settings, tally, otherwise });
  const post = (body: Uint8Array, type: string | undefined): Answer | Promise<Answer> => {
    const request: Request = {
      method: 'POST',
      target: '/attAuthority.wsdl',
      query: undefined,
      header: (name) => (name === 'content-type' ? type : undefined),
      peer: () => '127.0.0.1',
    };
    const reply = handler(request, { isGone: () => false, isComingBack: () => false, onGone: () => undefined });
    assert(!(reply instanceof Promise) && isIntake(reply));
    return reply.answer(body);
  };
  return { tally, post };
}

test('a request that comes again is answered alike, and counted each time by what it asks', () => {
  const authority = memoryAuthority();
  const { tally, post } = serviceOf(() => authority);
  for (const role of ['academic', 'nobody', '', 'academic', 'nobody', '', 'one']) {
    const first = post(Buffer.from(roleCall(role)), 'text/xml');
    expect(post(Buffer.from(roleCall(role)), 'text/xml')).toBe(first);
  }
  expect([tally[OUTCOME.listed], tally[OUTCOME.unknownRole], tally[OUTCOME.noRole]]).toEqual([6, 4, 4]);
});

test('the same bytes in another charset are another request', () => {
  const authority = memoryAuthority(new Map([['Å', ['Site:http://a.example.org/:x']]]));
  const { tally, post } = serviceOf(() => authority);
  const body = Buffer.from(roleCall('Å'), 'latin1');
  for (let round = 1; round <= 2; round++) {
    void post(body, 'text/xml; charset=iso-8859-1');
    void post(body, 'text/xml; charset=utf-8');
    expect([tally[OUTCOME.listed], tally[OUTCOME.Client]]).toEqual([round, round]);
  }
});

test('the memory that a request came in is used again, and a request of other bytes is another', () => {
  const authority = memoryAuthority();
  const { tally, post } = serviceOf(() => authority);
  const body = Buffer.from(roleCall('academic'));
  const academic = post(body, 'text/xml');
  body.write(roleCall('nobodyyy'));
  expect(post(body, 'text/xml')).not.toBe(academic);
  expect(post(Buffer.from(roleCall('academic')), 'text/xml')).toBe(academic);
  expect(post(Buffer.from(`${roleCall('academic')} `.slice(0, -2)), 'text/xml')).not.toBe(academic);
  expect([tally[OUTCOME.listed], tally[OUTCOME.unknownRole], tally[OUTCOME.Client]]).toEqual([2, 1, 1]);
});

test('a request that is known is answered by the configuration of now', () => {
  let authority = memoryAuthority(new Map([['staff', ['Old:http://old.example.org/:x']]]));
  const { post } = serviceOf(() => authority);
  const body = Buffer.from(roleCall('staff'));
  const textOf = (): string => Buffer.from((post(body, undefined) as Answer).body.pieceAt(0)).toString();
  expect([textOf(), textOf()].every((text) => text.includes('Old:'))).toBe(true);
  authority = memoryAuthority(new Map([['staff', ['New:http://new.example.org/:x']]]));
  expect(textOf()).toContain('New:');
  authority = memoryAuthority(new Map());
  expect(textOf()).not.toContain('New:');
});

test('a request to be authorised is decided each time', async () => {
  let asked = 0;
  const { trustedHosts } = memoryAuthority();
  const authority: Authority = {
    trustedHosts,
    authorise: () => Promise.resolve({ attCert: `${++asked}`, statCode: 'AccessGranted', errMsg: '' }),
  };
  const { post } = serviceOf(() => authority);
  const body = Buffer.from(call('reqAuthorisation', '<usrProxyCert>a</usrProxyCert><usrAttCert>b</usrAttCert>'));
  const [first, second] = [await post(body, undefined), await post(body, undefined)];
  expect(asked).toBe(2);
  expect(first.body.pieceAt(0)).not.toEqual(second.body.pieceAt(0));
});
