// The authority in a serving thread, with a real authority thread: responses, audit, atomic reloads, bounds, events,
// and the death and the end of the thread.
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AuthorityClient, type AuthorityLink } from '../../../../server/authority/client.ts';
import {
  type AuthorityListeners,
  type AuthoritySupervisor,
  CRLS_EVERY_MS,
  superviseAuthority,
} from '../../../../server/authority/supervisor.ts';
import { type Outcome, toOutcome } from '../../../../server/authority/soap/answers.ts';
import { OUTCOME } from '../../../../server/authority/soap/tally.ts';
import { epochMs } from '../../../../server/observe/clock.ts';
import type { ServiceEvent } from '../../../../server/observe/events.ts';
import { CONFIG_LINES, type TestSite, testSite, validAround } from '../../../support/authorities.ts';
import { makeCrl, pemOf } from '../../../support/certificates.ts';
import { call, roleCall } from '../../../support/envelopes.ts';
import { ecPair, holderOf, person } from '../../../support/pki.ts';
import { until } from '../../../support/waits.ts';
import { nameDer } from '../../../../server/authority/issuance.ts';

const NOW = Math.floor(epochMs() / 1000);
const VALID = validAround(NOW);

let site: TestSite;
let events: ServiceEvent[];
let heard: (() => void)[];
let supervisor: AuthoritySupervisor;
let client: AuthorityClient;
let worker: Worker;
const onWorker = (started: Worker): void => void (worker = started);

function hearers(): AuthorityListeners {
  const [seen, waiting] = [events, heard];
  return {
    observe: (together) => {
      seen.push(...together);
      for (const one of waiting.splice(0)) one();
    },
    onUnwritten: () => undefined,
    onLostThread: () => undefined,
  };
}

const auditLog = (): string => join(site.directory, 'audit.log');
const linesOfAudit = (): readonly string[] => readFileSync(auditLog(), 'utf8').trimEnd().split('\n');

async function connected(link: AuthorityLink): Promise<AuthorityClient> {
  const connecting = new AuthorityClient(link);
  await connecting.started;
  return connecting;
}

/** Resolves with the events once there are this many of a kind. */
async function eventsOf<K extends ServiceEvent['kind']>(
  kind: K,
  count: number,
): Promise<readonly Extract<ServiceEvent, { kind: K }>[]> {
  for (;;) {
    const found = events.filter((event) => event.kind === kind) as Extract<ServiceEvent, { kind: K }>[];
    if (found.length >= count) return found;
    await new Promise<void>((resolve) => heard.push(resolve));
  }
}

beforeEach(async () => {
  [events, heard] = [[], []];
  process.on('worker', onWorker);
  site = testSite({ site: ecPair(), partner: ecPair(), validity: VALID });
  supervisor = superviseAuthority(site.config, auditLog(), hearers());
  client = await connected(supervisor.link());
});
afterEach(async () => {
  client.close();
  await supervisor.stop();
  process.off('worker', onWorker);
  site.remove();
});

const ask = (body: string, by = client): Promise<Outcome> =>
  by.ask({ body: Buffer.from(body), charset: undefined, sender: { id: 'request-1', peer: '192.0.2.1' } });

const textOf = ({ answer }: Outcome): string => Buffer.from(answer.body.pieceAt(0)).toString();

const authorisationOf = (usrProxyCert: string): string =>
  call('reqAuthorisation', `<usrProxyCert>${usrProxyCert}</usrProxyCert><usrAttCert/>`);

async function rolesGranted(by = client): Promise<readonly string[] | undefined> {
  const outcome = await ask(authorisationOf(site.staff.pem), by);
  if (outcome.cell !== OUTCOME.AccessGranted) return undefined;
  return [...textOf(outcome).matchAll(/&lt;name&gt;(.*?)&lt;/g)].map(([, role]) => role!);
}

const refusal = async (): Promise<string> =>
  /<errMsg[^>]*>(.*?)<\/errMsg>/.exec(textOf(await ask(authorisationOf(site.staff.pem))))![1]!;

/** Loads the files again and waits until the client has the new configuration. */
async function reload(): Promise<void> {
  const before = client.trustedHosts();
  expect(await supervisor.reload()).toBe(true);
  await until(() => client.trustedHosts() !== before);
}

describe('a running authority', () => {
  test('answers both operations and records its decisions', async () => {
    const { cell, answer } = await ask(roleCall('reader'));
    expect([cell, answer.status]).toEqual([OUTCOME.listed, 200]);
    expect(textOf(await ask(roleCall('reader')))).toContain(
      'Partner:https://partner.example.org/attAuthority.wsdl:student',
    );
    expect(await rolesGranted()).toEqual(['staff', 'reader']);
    const refused = await ask(authorisationOf('nothing'));
    expect([refused.cell, textOf(refused)]).toEqual([
      OUTCOME.AccessError,
      expect.stringContaining("The user's certificates (usrProxyCert) cannot be read: "),
    ]);
    const records = await eventsOf('authorisation', 2);
    expect(
      records.map(({ status, holder, roles, requestId, peer }) => [status, holder, roles, requestId, peer]),
    ).toEqual([
      ['AccessGranted', '/O=Test/CN=Staff', ['staff', 'reader'], 'request-1', '192.0.2.1'],
      ['AccessError', '', [], 'request-1', '192.0.2.1'],
    ]);
    expect(JSON.stringify(records)).not.toMatch(/BEGIN|nothing|PRIVATE/);
    expect(linesOfAudit().map((line) => (JSON.parse(line) as ServiceEvent & { event: string }).event)).toEqual([
      'authorityLoaded',
      'authorisation',
      'authorisation',
    ]);
  });

  test('answers many messages at once, each with its own response', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, i) => ask(i % 2 ? authorisationOf(site.staff.pem) : roleCall(`role ${i}`))),
    );
    expect(outcomes.map(({ cell }) => cell)).toEqual(
      outcomes.map((_, i) => (i % 2 ? OUTCOME.AccessGranted : OUTCOME.unknownRole)),
    );
    expect(new Set((await eventsOf('authorisation', 30)).map(({ serialNumber }) => serialNumber)).size).toBe(30);
  });

  test('finds a response of getTrustedHostInfo by the bytes of its request, except for an unknown role', async () => {
    const found = (text: string, charset?: string): Outcome | undefined =>
      client.find({ body: Buffer.from(text), charset, sender: {} });
    expect(found(roleCall('reader'))).toBeUndefined();
    for (const role of ['reader', '', 'unknown']) {
      const outcome = await ask(roleCall(role));
      expect(found(roleCall(role)), role).toBe(role === 'unknown' ? undefined : outcome);
    }
    expect(found(roleCall('reader'), 'utf-16')).toBeUndefined();
    expect(found(`${roleCall('reader')} `)).toBeUndefined();
    await reload();
    expect(found(roleCall('reader'))).toBeUndefined();
  });

  test('refuses messages beyond its queue with a fault, and answers the others', async () => {
    const busy = toOutcome({ fault: 'busy' });
    const outcomes = await Promise.all(Array.from({ length: 300 }, () => ask(authorisationOf('no'))));
    expect(outcomes.filter((outcome) => outcome.answer === busy.answer)).toHaveLength(300 - 256);
    const long = (bytes: number): string => roleCall('reader').padEnd(bytes);
    const [first, ...others] = await Promise.all([5 << 20, 20_000, 1000].map((bytes) => ask(long(bytes))));
    expect([first!.cell, ...others.map(({ cell }) => cell)]).toEqual([OUTCOME.listed, OUTCOME.Server, OUTCOME.listed]);
    expect((await ask(long(20_000))).cell).toBe(OUTCOME.listed);
  });

  test('answers short messages before long ones', async () => {
    const ended: string[] = [];
    const long = [1, 2, 3].map(() => ask(roleCall('reader').padEnd(500_000)).then(() => ended.push('long')));
    const short = ask(roleCall('reader')).then(() => ended.push('short'));
    await Promise.all([...long, short]);
    expect(ended.indexOf('short')).toBeLessThanOrEqual(1);
  });

  test('answers pending messages when it is closed', async () => {
    const roles = Promise.all(Array.from({ length: 10 }, () => rolesGranted()));
    client.close();
    expect(await roles).toEqual(Array.from({ length: 10 }, () => ['staff', 'reader']));
    await supervisor.stop();
    expect(await eventsOf('authorisation', 10)).toHaveLength(10);
  });
});

describe('the audit', () => {
  test('completes a broken line and has each decision before its response', async () => {
    writeFileSync(auditLog(), '{"broke');
    for (let i = 1; i <= 3; i++) {
      await rolesGranted();
      expect(linesOfAudit()).toHaveLength(1 + i);
    }
    expect(JSON.parse(linesOfAudit()[1]!)).toMatchObject({ event: 'authorisation', holder: '/O=Test/CN=Staff' });
  });
});

describe('an authority thread that dies', () => {
  test('is restarted; messages get a fault meanwhile, and no recorded grant is lost', async () => {
    expect(await rolesGranted()).toEqual(['staff', 'reader']);
    const waiting = ask(authorisationOf(site.staff.pem));
    await worker.terminate();
    const away = toOutcome({ fault: 'away' });
    expect([away.answer, (await waiting).answer]).toContain((await ask(roleCall('reader'))).answer);
    expect((await ask(roleCall('reader'))).answer).toBe(away.answer);
    await until(async () => (await rolesGranted()) !== undefined);
    expect(linesOfAudit().length).toBeGreaterThanOrEqual(3);
  });
});

describe('a reload', () => {
  test('leaves a CA that is no longer configured without users', async () => {
    expect(await rolesGranted()).toEqual(['staff', 'reader']);
    const other = holderOf('ca', nameDer(person('Other CA')), ecPair(), undefined, VALID);
    const own = holderOf('signer', site.site.name, ecPair(), other, VALID);
    site.write('ca.pem', other.pem);
    site.write('site.pem', own.pem);
    site.write('site.key', own.key.export({ type: 'pkcs8', format: 'pem' }));
    await reload();
    expect(await refusal()).toMatch(/usrProxyCert/);
  });

  test('reaches every thread, also those that start later', async () => {
    site.write('users', '"/O=Test/CN=Staff" guest\n');
    await supervisor.reload();
    const later = await connected(supervisor.link());
    expect(await rolesGranted(later)).toEqual(['guest']);
    later.close();
  });

  test('loads the current CRLs: without a current one no user is accepted', async () => {
    mkdirSync(join(site.directory, 'crls'));
    site.write('authority.toml', ['crls = "crls"', ...CONFIG_LINES].join('\n'));
    await reload();
    expect(await refusal()).toBe(
      "The user's certificates (usrProxyCert) are refused: There is no current CRL of /O=Test/CN=CA.",
    );
  });
});

describe('the periodic check of the CRL directory', () => {
  /** Only the supervisor's timer is fake: threads, files and messages are real. */
  beforeEach(async () => {
    client.close();
    await supervisor.stop();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    mkdirSync(join(site.directory, 'crls'));
    site.write('authority.toml', ['crls = "crls"', ...CONFIG_LINES].join('\n'));
    writeCrl([]);
    supervisor = superviseAuthority(site.config, auditLog(), hearers());
    client = await connected(supervisor.link());
  });
  afterEach(() => void vi.useRealTimers());

  function writeCrl(revoked: readonly bigint[], name = 'ca.crl'): void {
    const issuer = { subject: site.ca.name, keys: { privateKey: site.ca.key } };
    const crl = makeCrl({ issuer, revoked, thisUpdate: NOW - 60, nextUpdate: NOW + 3600 });
    site.write(join('crls', name), pemOf('X509 CRL', crl));
  }

  /** Advances the clock and waits for the effect on the serving thread, if there is one. */
  async function tick(brings: 'another configuration' | 'nothing'): Promise<void> {
    const before = client.trustedHosts();
    if (brings === 'nothing') await supervisor.look();
    else vi.advanceTimersByTime(CRLS_EVERY_MS);
    if (brings !== 'nothing') await until(() => client.trustedHosts() !== before);
    expect(client.trustedHosts() === before).toBe(brings === 'nothing');
  }

  test('refuses by a new CRL a certificate that was accepted before', async () => {
    expect(await rolesGranted()).toEqual(['staff', 'reader']);
    writeCrl([site.staff.certificate.serialNumber], 'newer.r0');
    expect(await rolesGranted()).toEqual(['staff', 'reader']);
    await tick('another configuration');
    expect(await refusal()).toMatch(/ are refused: The certificate of \/O=Test\/CN=Staff has been revoked\.$/);
    expect(await eventsOf('authorityLoaded', 3)).toHaveLength(3);
  });

  const BROKEN = '-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n';

  test('names a broken file once, and still renews the other files', async () => {
    site.write(join('crls', 'other.r0'), BROKEN);
    await tick('another configuration');
    await tick('nothing');
    const named = (await eventsOf('authorityLoaded', 3)).map(({ notes }) =>
      notes.filter((note) => note.startsWith('not used')),
    );
    expect(named.slice(2)).toEqual([
      [expect.stringMatching(/^not used: .*crls\/other\.r0: The text holds a CRL that cannot be read: it has .+\.$/)],
    ]);
    expect(supervisor.status()).toMatchObject({ unusableFiles: 1, refused: undefined });
    expect(await rolesGranted()).toEqual(['staff', 'reader']);
    writeCrl([site.staff.certificate.serialNumber]);
    await tick('another configuration');
    expect(await refusal()).toMatch(/has been revoked\.$/);
    rmSync(join(site.directory, 'crls', 'other.r0'));
    await tick('another configuration');
    expect(supervisor.status()).toMatchObject({ unusableFiles: 0 });
  });

  test('refuses the users of a CA whose only CRL is broken, until it is repaired', async () => {
    expect(await rolesGranted()).toEqual(['staff', 'reader']);
    site.write(join('crls', 'ca.crl'), BROKEN);
    await tick('another configuration');
    expect(await refusal()).toMatch(/ are refused: There is no current CRL of \/O=Test\/CN=CA\.$/);
    writeCrl([]);
    await tick('another configuration');
    expect(await rolesGranted()).toEqual(['staff', 'reader']);
  });

  test('loads new files that another error kept out once that is repaired, without another change of theirs', async () => {
    site.write('authority.toml', ['x = 1', 'crls = "crls"', ...CONFIG_LINES].join('\n'));
    writeCrl([site.staff.certificate.serialNumber]);
    await tick('nothing');
    await tick('nothing');
    const refused = await eventsOf('authorityReloadRefused', 1);
    expect(refused.map(({ mistakes }) => mistakes)).toEqual([[expect.stringContaining('unknown key "x"')]]);
    site.write('authority.toml', ['crls = "crls"', ...CONFIG_LINES].join('\n'));
    await tick('another configuration');
    expect(await refusal()).toMatch(/has been revoked\.$/);
  });

  test('sees changes of other files despite a dangling link', async () => {
    symlinkSync('round', join(site.directory, 'crls', 'round'));
    await reload();
    writeCrl([site.staff.certificate.serialNumber]);
    await tick('another configuration');
    expect(await refusal()).toMatch(/has been revoked\.$/);
  });

  test('reads nothing again while nothing changes', async () => {
    const before = (await eventsOf('authorityLoaded', 2)).length;
    await tick('nothing');
    expect(await eventsOf('authorityLoaded', 2)).toHaveLength(before);
  });

  test('reports an error while the directory is missing', async () => {
    renameSync(join(site.directory, 'crls'), join(site.directory, 'away'));
    await tick('nothing');
    const [{ mistakes } = { mistakes: [] as readonly string[] }] = await eventsOf('authorityReloadRefused', 1);
    expect(mistakes).toEqual([
      expect.stringMatching(/authority\.toml:1:1: .*crls cannot be read as a directory \(ENOENT\)$/),
    ]);
    expect(await rolesGranted()).toEqual(['staff', 'reader']);
    renameSync(join(site.directory, 'away'), join(site.directory, 'crls'));
    await tick('another configuration');
    expect(await rolesGranted()).toEqual(['staff', 'reader']);
  });
});
