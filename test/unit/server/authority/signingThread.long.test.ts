// The signing thread of a serving thread, with real threads: one for all configurations, requests and messages in their
// order, and bounds of what waits.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AuthorisationOutcome } from '../../../../server/authority/authorised.ts';
import type { LongMessage } from '../../../../server/authority/authority.ts';
import { type AuthorityData, loadAuthority } from '../../../../server/authority/configuration/load.ts';
import { type SigningThread, signingThreadOf } from '../../../../server/authority/signingThread.ts';
import { epochMs } from '../../../../server/observe/clock.ts';
import { auditLogOf, logLine } from '../../../../server/observe/log.ts';
import { type TestSite, testSite, validAround } from '../../../support/authorities.ts';
import { caOf, ecPair } from '../../../support/pki.ts';

const NOW = Math.floor(epochMs() / 1000);
const READER = new URL('../../../support/countingReader.ts', import.meta.url);
const LONG = 3 << 20;
const message = (body: Uint8Array<ArrayBuffer>, isGone = false): LongMessage => ({
  body,
  charset: 'x',
  isGone: () => isGone,
});
let site: TestSite;
let thread: SigningThread;
let begun: number;
const onWorker = (): void => void begun++;

/** The configuration as it is on disk now. */
function dataNow(): AuthorityData {
  const loading = loadAuthority(site.config, NOW);
  assert(loading.kind === 'loaded');
  return loading.data;
}

beforeEach(() => {
  begun = 0;
  process.on('worker', onWorker);
  site = testSite({ site: ecPair(), partner: ecPair(), validity: validAround(NOW) });
  thread = signingThreadOf(dataNow(), { messageReader: READER.href });
});
afterEach(async () => {
  await thread.close();
  process.off('worker', onWorker);
  site.remove();
});

test('starts when it is told, or with the first request, and is the same for every configuration', async () => {
  await thread.start();
  expect(begun).toBe(1);
  await thread.run({ usrProxyCert: site.staff.pem, usrAttCert: '' });
  site.write('users', '"/O=Test/CN=Staff" guest\n');
  thread.configure(dataNow());
  const authorised = await thread.run({ usrProxyCert: site.staff.pem, usrAttCert: '' });
  expect(authorised).toMatchObject({ record: { roles: ['guest'] } });
  expect(begun).toBe(1);
});

test('that has not started begins with the configuration of now', async () => {
  site.write('users', '"/O=Test/CN=Staff" guest\n');
  thread.configure(dataNow());
  expect(begun).toBe(0);
  const authorised = await thread.run({ usrProxyCert: site.staff.pem, usrAttCert: '' });
  expect(authorised).toMatchObject({ record: { roles: ['guest'] } });
});

test('ends at once where nothing is asked of it', async () => {
  await thread.start();
  await thread.close();
  await expect(thread.run({ usrProxyCert: 'no', usrAttCert: '' })).resolves.toMatchObject({ answer: {} });
  expect(begun).toBe(2);
});

test('records each decision before it is told', async () => {
  const auditLog = join(site.directory, 'audit.log');
  writeFileSync(auditLog, '{"broke');
  const audited = signingThreadOf(dataNow(), { auditLog: auditLogOf(auditLog) });
  const linesNow = (): readonly string[] => readFileSync(auditLog, 'utf8').split('\n').slice(1, -1);
  for (const [i, usrProxyCert] of [site.staff.pem, site.visitor.pem, 'no'].entries()) {
    const told = await audited.run({ usrProxyCert, usrAttCert: '' });
    assert(typeof told !== 'string');
    expect(told.record.isRecorded).toBe(true);
    expect(linesNow()).toHaveLength(i + 1);
    expect(linesNow()[i]).toBe(logLine(told.record));
    expect(JSON.parse(linesNow()[i]!)).toMatchObject({ sentence: told.answer.errMsg });
  }
  await audited.close();
});

test('grants nothing while decisions cannot be recorded, says so, and grants again', async () => {
  const directory = join(site.directory, 'logs');
  const audited = signingThreadOf(dataNow(), { auditLog: auditLogOf(join(directory, 'audit.log')) });
  const told = async (usrProxyCert: string): Promise<AuthorisationOutcome> => {
    const authorised = await audited.run({ usrProxyCert, usrAttCert: '' });
    assert(typeof authorised !== 'string');
    return authorised;
  };
  const { answer, record } = await told(site.staff.pem);
  expect(answer).toEqual({
    attCert: '',
    statCode: 'AccessError',
    errMsg: 'This service cannot record its decisions at the moment and grants nothing meanwhile; please try again.',
  });
  expect(record).toMatchObject({ reason: 'unrecorded', holder: '/O=Test/CN=Staff', roles: [], isRecorded: false });
  expect(await told(site.visitor.pem)).toMatchObject({
    answer: { statCode: 'AccessDenied' },
    record: { isRecorded: false },
  });
  mkdirSync(directory);
  expect(await told(site.staff.pem)).toMatchObject({
    answer: { statCode: 'AccessGranted' },
    record: { isRecorded: true },
  });
  await audited.close();
});

test.skipIf(process.platform === 'win32')('grants nothing into a pipe that nobody reads', async () => {
  const pipe = join(site.directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const audited = signingThreadOf(dataNow(), { auditLog: auditLogOf(pipe) });
  const told = await audited.run({ usrProxyCert: site.staff.pem, usrAttCert: '' });
  expect(told).toMatchObject({ answer: { statCode: 'AccessError' }, record: { reason: 'unrecorded' } });
  await audited.close();
});

test('reads messages one at a time, so that a request waits for one of them at most', async () => {
  const ended: string[] = [];
  const reads = [1, 2, 3].map(async (i) => {
    const read = await thread.read(message(Uint8Array.of(i)));
    ended.push(`message ${i}`);
    return read;
  });
  const run = thread.run({ usrProxyCert: 'no', usrAttCert: '' }).then(() => ended.push('request'));
  expect(await Promise.all(reads)).toEqual([1, 2, 3].map((i) => ({ bytes: [i], charset: 'x' })));
  await run;
  expect(ended.indexOf('request')).toBeLessThanOrEqual(1);
});

test('reads no more than there is room for, however long where nothing else waits, and again once there is', async () => {
  const first = thread.read(message(new Uint8Array(2 * LONG)));
  expect(await thread.read(message(new Uint8Array(1)))).toBe('busy');
  expect(await first).toMatchObject({ charset: 'x' });
  const others = [LONG, 1000, LONG].map((bytes) => thread.read(message(new Uint8Array(bytes))));
  expect((await Promise.all(others)).map((read) => read === 'busy')).toEqual([false, false, true]);
  expect(await thread.read(message(Uint8Array.of(7)))).toEqual({ bytes: [7], charset: 'x' });
});

test('reads nothing of clients that are gone when their turn comes, and goes on behind a bug of the reader', async () => {
  const bug = thread.read(message(Uint8Array.of(255)));
  const gone = thread.read(message(Uint8Array.of(1), true));
  const last = thread.read(message(Uint8Array.of(2)));
  await expect(bug).rejects.toMatchObject({ stack: expect.stringContaining('countingReader') as string });
  expect(await gone).toBe('busy');
  expect(await last).toEqual({ bytes: [2], charset: 'x' });
});

test('takes no more text than there is memory for, and the next when that is answered', async () => {
  const usrProxyCert = 'x'.repeat(20 << 20);
  const runs = [1, 2].map(() => thread.run({ usrProxyCert, usrAttCert: '' }));
  expect((await Promise.all(runs)).map((run) => run === 'busy')).toEqual([false, true]);
  expect(await thread.run({ usrProxyCert, usrAttCert: '' })).not.toBe('busy');
});

test('judges a request however long where nothing else waits', async () => {
  const usrProxyCert = 'x'.repeat((32 << 20) + 1);
  expect(await thread.run({ usrProxyCert, usrAttCert: '' })).toMatchObject({ record: { reason: 'userChain' } });
});

test('a thread whose configuration cannot be used rejects what it is asked, and closes', async () => {
  const broken = signingThreadOf({ ...dataNow(), certificate: caOf('x').certificate.der.subarray(1) }, {});
  await expect(broken.run({ usrProxyCert: site.staff.pem, usrAttCert: '' })).rejects.toThrow();
  await broken.close();
});
