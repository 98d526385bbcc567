// What the SOAP service answers to a request that it knows by its bytes: what it answered the first time, each one
// counted.
import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import type { Authority } from '../../../../../server/authority/authority.ts';
import { type Answer, isIntake, type Request } from '../../../../../server/http/exchange.ts';
import { FAULTS } from '../../../../../server/authority/soap/faults.ts';
import { faultBytes } from '../../../../../server/authority/soap/responses.ts';
import { soapHandler } from '../../../../../server/authority/soap/service.ts';
import { OUTCOME, SOAP_ANSWERS } from '../../../../../server/authority/soap/tally.ts';
import { newTally } from '../../../../../server/observe/tally.ts';
import { call, roleCall } from '../../../../support/envelopes.ts';
import { Slices } from '../../../../../workers/slices.ts';
import { memoryAuthority } from '../../../../support/memoryAuthority.ts';

function serviceOf(authority: () => Authority, slices = new Slices(() => 0)) {
  const tally = newTally(SOAP_ANSWERS);
  const settings = {
    baseUrl: 'http://localhost',
    allowBaseUrls: ['https://b.example/cat', 'http://c.example'],
    soapBodyBytesMax: 65_536,
  };
  const otherwise = (): never => assert.fail('the path is the service’s');
  const handler = soapHandler({ authority, settings, tally, slices, otherwise });
  const post = (
    body: Uint8Array,
    type: string | undefined,
    target = '/attAuthority.wsdl',
  ): Answer | Promise<Answer> => {
    const request: Request = {
      method: 'POST',
      target,
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

test('the service is found below every base URL that is allowed', () => {
  const { post } = serviceOf(() => memoryAuthority());
  const body = Buffer.from(roleCall('academic'));
  expect(post(body, 'text/xml', '/cat/attAuthority.wsdl')).toEqual(post(body, 'text/xml'));
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
  const authority: Authority = {
    ...memoryAuthority(),
    authorise: () => Promise.resolve({ attCert: `${++asked}`, statCode: 'AccessGranted', errMsg: '' }),
  };
  const { post } = serviceOf(() => authority);
  const body = Buffer.from(call('reqAuthorisation', '<usrProxyCert>a</usrProxyCert><usrAttCert>b</usrAttCert>'));
  const [first, second] = [await post(body, undefined), await post(body, undefined)];
  expect(asked).toBe(2);
  expect(first.body.pieceAt(0)).not.toEqual(second.body.pieceAt(0));
});

test('a message of more than 16 kB is read elsewhere, a shorter one here; both are answered alike', async () => {
  const lengths: number[] = [];
  const authority = memoryAuthority();
  const read: Authority['read'] = (message) => {
    lengths.push(message.body.length);
    return authority.read(message);
  };
  const { tally, post } = serviceOf(() => watched);
  const watched: Authority = { ...authority, read };
  const ofLength = (bytes: number, envelope: string): Buffer => Buffer.from(envelope.padEnd(bytes));
  const here = post(ofLength(16_384, roleCall('academic')), undefined);
  expect(here).not.toBeInstanceOf(Promise);
  expect(await post(ofLength(16_385, roleCall('academic')), undefined)).toBe(here);
  expect((await post(ofLength(20_000, roleCall('<')), undefined)).status).toBe(500);
  const refused = await post(ofLength(20_000, call('reqAuthorisation', '')), undefined);
  expect(Buffer.from(refused.body.pieceAt(0)).toString()).toContain('AccessError');
  expect(lengths).toEqual([16_385, 20_000, 20_000]);
  expect([tally[OUTCOME.listed], tally[OUTCOME.Client], tally[OUTCOME.AccessError]]).toEqual([2, 1, 1]);
});

test('beyond what a turn has time for, all but the shortest messages are read by another thread too', async () => {
  const lengths: number[] = [];
  const authority = memoryAuthority();
  const read: Authority['read'] = (message) => {
    lengths.push(message.body.length);
    return authority.read(message);
  };
  const slices = new Slices(() => 0);
  const { post } = serviceOf(() => watched, slices);
  const watched: Authority = { ...authority, read };
  const ofLength = (bytes: number): Buffer => Buffer.from(roleCall('<').padEnd(bytes));
  const inTime = post(ofLength(2049), undefined);
  slices.spend(-10);
  expect([inTime, post(ofLength(2048), undefined)]).not.toContainEqual(expect.any(Promise));
  expect((await post(ofLength(2049), undefined)).status).toBe(500);
  expect(lengths).toEqual([2049]);
});

test('where too much waits to be read the answer is 503 with a fault, and when to come again', async () => {
  const { tally, post } = serviceOf(() => ({ ...memoryAuthority(), read: () => Promise.resolve('busy') }));
  const { status, headers, body } = await post(Buffer.from(roleCall('one').padEnd(20_000)), undefined);
  expect([status, new Map(headers).get('Retry-After'), tally[OUTCOME.Server]]).toEqual([503, '1', 1]);
  expect(Buffer.from(body.pieceAt(0))).toEqual(Buffer.from(faultBytes(FAULTS.busy)));
});

test('a bug met where a message is read is counted, once', async () => {
  const { tally, post } = serviceOf(() => ({ ...memoryAuthority(), read: () => Promise.reject(new Error('bug')) }));
  await expect(post(Buffer.from(roleCall('one').padEnd(20_000)), undefined)).rejects.toThrow('bug');
  expect(tally[OUTCOME.Server]).toBe(1);
});
