// The authority as serving threads have it, with real signing threads: answers, reloads as a whole, bounds, events, and
// its end.
import { once } from 'node:events';
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { OperationError } from '../../../../data/operationError.ts';
import { type AuthorityService, openAuthority } from '../../../../server/authority/service.ts';
import { WAITING_MAX } from '../../../../server/authority/signingThread.ts';
import {
  type AuthoritySupervisor,
  CRLS_EVERY_MS,
  superviseAuthority,
} from '../../../../server/authority/supervisor.ts';
import { epochMs } from '../../../../server/observe/clock.ts';
import type { AuthorisationRecord, Observer, ServiceEvent } from '../../../../server/observe/events.ts';
import { CONFIG_LINES, type TestSite, testSite, validAround } from '../../../support/authorities.ts';
import { makeCrl, pemOf } from '../../../support/certificates.ts';
import { ecPair, person, holderOf } from '../../../support/pki.ts';
import { nameDer } from '../../../../server/authority/issuance/certificate.ts';

const NOW = Math.floor(epochMs() / 1000);
const VALID = validAround(NOW);

let site: TestSite;
let events: ServiceEvent[];
let mostTogether: number;
let heard: (() => void)[];
let supervisor: AuthoritySupervisor;
let service: AuthorityService;

/** An observer for one test: a service that ends behind it tells no other. */
function observer(): Observer {
  const [told, waiting] = [events, heard];
  return (together) => {
    told.push(...together);
    if (told === events) mostTogether = Math.max(mostTogether, together.length);
    for (const one of waiting.splice(0)) one();
  };
}

/** Resolves with the events when there are so many of a kind. */
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

beforeEach(() => {
  [events, heard, mostTogether] = [[], [], 0];
  site = testSite({ site: ecPair(), partner: ecPair(), validity: VALID });
  supervisor = superviseAuthority(site.config, observer());
  service = openAuthority(supervisor.link());
});
afterEach(async () => {
  await service.close();
  supervisor.stop();
  site.remove();
});

async function rolesGranted(): Promise<readonly string[] | string> {
  const { statCode, attCert } = await service.current().authorise({ usrProxyCert: site.staff.pem, usrAttCert: '' });
  return statCode === 'AccessGranted'
    ? [...attCert.matchAll(/<name>(.*?)<\/name>/g)].map(([, role]) => role!)
    : statCode;
}

describe('a running authority', () => {
  test('answers both operations, and tells what it decided', async () => {
    expect(service.current().trustedHosts.get('reader')).toEqual([
      'Partner:https://partner.example.org/attAuthority.wsdl:student',
    ]);
    expect(await rolesGranted()).toEqual(['staff', 'reader']);
    expect(await service.current().authorise({ usrProxyCert: 'nothing', usrAttCert: '' })).toEqual({
      attCert: '',
      statCode: 'AccessError',
      errMsg: expect.stringMatching(/^The user's certificates \(usrProxyCert\) cannot be read: /) as string,
    });
    const records = await eventsOf('authorisation', 2);
    expect(records.map(({ status, holder, roles, sentence }) => [status, holder, roles, sentence])).toEqual([
      ['AccessGranted', '/O=Test/CN=Staff', ['staff', 'reader'], ''],
      ['AccessError', '', [], expect.stringMatching(/^The user's certificates \(usrProxyCert\) cannot be read: /)],
    ]);
    expect(JSON.stringify(records)).not.toMatch(/BEGIN|nothing|PRIVATE/);
  });

  test('answers as many at once as it is given, in any order, each its own', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        service.current().authorise({ usrProxyCert: i % 2 ? site.staff.pem : `no ${i}`, usrAttCert: '' }),
      ),
    );
    expect(answers.map(({ statCode }) => statCode)).toEqual(
      answers.map((_, i) => (i % 2 ? 'AccessGranted' : 'AccessError')),
    );
    const records = await eventsOf('authorisation', 60);
    const numbers = records.map(({ serialNumber }) => serialNumber).filter(Boolean);
    expect(new Set(numbers).size).toBe(30);
  });

  test('tells decisions of one moment together, each once', async () => {
    const [many, tooMany] = [WAITING_MAX, 5];
    await Promise.all(
      Array.from({ length: many + tooMany }, () => service.current().authorise({ usrProxyCert: 'no', usrAttCert: '' })),
    );
    const records = await eventsOf('authorisation', many + tooMany);
    expect(records.every(({ sentence }) => sentence !== '')).toBe(true);
    expect(records.map(({ reason }) => reason).toSorted()).toEqual([
      ...Array.from({ length: tooMany }, () => 'busy'),
      ...Array.from({ length: many }, () => 'userChain'),
    ]);
    expect(mostTogether).toBeGreaterThanOrEqual(tooMany);
  });

  test('tells what it decided before it ends', async () => {
    expect(await rolesGranted()).toEqual(['staff', 'reader']);
    await service.close();
    expect(await eventsOf('authorisation', 1)).toHaveLength(1);
  });

  test('asks to try again where too much waits, and answers the others', async () => {
    const answers = await Promise.all(
      Array.from({ length: WAITING_MAX + 5 }, () =>
        service.current().authorise({ usrProxyCert: site.staff.pem, usrAttCert: '' }),
      ),
    );
    const refused = answers.filter(({ statCode }) => statCode !== 'AccessGranted');
    expect(refused).toEqual(
      Array.from({ length: 5 }, () => ({
        attCert: '',
        statCode: 'AccessError',
        errMsg: 'This service has too much to do at the moment; please try again.',
      })),
    );
    const records = await eventsOf('authorisation', WAITING_MAX + 5);
    expect(records.filter(({ reason }: AuthorisationRecord) => reason === 'busy')).toHaveLength(5);
  });

  test('answers what is under way when it is closed', async () => {
    const answers = Promise.all(Array.from({ length: 10 }, rolesGranted));
    await service.close();
    expect(await answers).toEqual(Array.from({ length: 10 }, () => ['staff', 'reader']));
  });
});

describe('a reload', () => {
  test('changes all that follows, while requests that came before are answered as they were asked', async () => {
    const before = [rolesGranted(), rolesGranted(), rolesGranted()];
    const first = service.current();
    site.write('users', '"/O=Test/CN=Staff" guest\n');
    site.write('authority.toml', CONFIG_LINES.filter((line) => !line.includes('student')).join('\n'));
    expect(await supervisor.reload()).toBe(true);
    while (service.current() === first) await new Promise((resolve) => setImmediate(resolve));
    expect(await rolesGranted()).toEqual(['guest']);
    expect([...service.current().trustedHosts.keys()]).toEqual(['editor']);
    expect(await Promise.all(before)).toEqual([1, 2, 3].map(() => ['staff', 'reader']));
  });

  test('forgets what chains proved: a CA that is no longer configured has no users', async () => {
    expect(await rolesGranted()).toEqual(['staff', 'reader']);
    const other = holderOf('ca', nameDer(person('Other CA')), ecPair(), undefined, VALID);
    const own = holderOf('signer', site.site.name, ecPair(), other, VALID);
    site.write('ca.pem', other.pem);
    site.write('site.pem', own.pem);
    site.write('site.key', own.key.export({ type: 'pkcs8', format: 'pem' }));
    const first = service.current();
    expect(await supervisor.reload()).toBe(true);
    while (service.current() === first) await new Promise((resolve) => setImmediate(resolve));
    expect(await rolesGranted()).toBe('AccessError');
  });

  test('with any mistake changes nothing, and tells all of them', async () => {
    const first = service.current();
    site.write('users', '"/O=Test/CN=Staff" guest\nno user\n');
    site.write('authority.toml', [...CONFIG_LINES, '[[trustedHost]]', 'name = "X"'].join('\n'));
    expect(await supervisor.reload()).toBe(false);
    const [{ mistakes } = { mistakes: [] as readonly string[] }] = await eventsOf('authorityReloadRefused', 1);
    expect(mistakes.map((line) => /[a-z.]+:\d+(?::\d+)?(?=: )/.exec(line)?.[0])).toEqual([
      'authority.toml:16:3',
      'authority.toml:16:3',
      'users:2',
    ]);
    expect(await rolesGranted()).toEqual(['staff', 'reader']);
    expect(service.current()).toBe(first);
  });

  test('reaches every thread, those that start later too', async () => {
    site.write('users', '"/O=Test/CN=Staff" guest\n');
    await supervisor.reload();
    const later = openAuthority(supervisor.link());
    const { attCert } = await later.current().authorise({ usrProxyCert: site.staff.pem, usrAttCert: '' });
    expect(attCert).toContain('<name>guest</name>');
    await later.close();
  });

  test('takes the CRLs that are there now: without a current one nobody gets in', async () => {
    mkdirSync(join(site.directory, 'crls'));
    site.write('authority.toml', ['crls = "crls"', ...CONFIG_LINES].join('\n'));
    const first = service.current();
    expect(await supervisor.reload()).toBe(true);
    while (service.current() === first) await new Promise((resolve) => setImmediate(resolve));
    const { errMsg } = await service.current().authorise({ usrProxyCert: site.staff.pem, usrAttCert: '' });
    expect(errMsg).toBe(
      "The user's certificates (usrProxyCert) are refused: There is no current CRL of /O=Test/CN=CA.",
    );
  });
});

describe('the directory of CRLs is looked at by the clock:', () => {
  /** Only the supervisor's timer is held: threads, files and messages are real. */
  beforeEach(async () => {
    await service.close();
    supervisor.stop();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    mkdirSync(join(site.directory, 'crls'));
    site.write('authority.toml', ['crls = "crls"', ...CONFIG_LINES].join('\n'));
    writeCrl([]);
    supervisor = superviseAuthority(site.config, observer());
    service = openAuthority(supervisor.link());
  });
  afterEach(() => void vi.useRealTimers());

  function writeCrl(revoked: readonly bigint[], name = 'ca.crl'): void {
    const issuer = { subject: site.ca.name, keys: { privateKey: site.ca.key } };
    const crl = makeCrl({ issuer, revoked, thisUpdate: NOW - 60, nextUpdate: NOW + 3600 });
    site.write(join('crls', name), pemOf('X509 CRL', crl));
  }

  /** Lets the clock tick, and waits for what it brings about in the serving thread if something does. */
  async function tick(brings: 'another configuration' | 'nothing'): Promise<void> {
    const first = service.current();
    if (brings === 'nothing') await supervisor.look();
    else vi.advanceTimersByTime(CRLS_EVERY_MS);
    while (brings !== 'nothing' && service.current() === first) await new Promise((resolve) => setImmediate(resolve));
    expect(service.current() === first).toBe(brings === 'nothing');
  }

  const refusal = async (): Promise<string> =>
    (await service.current().authorise({ usrProxyCert: site.staff.pem, usrAttCert: '' })).errMsg;

  test('a new CRL refuses a certificate that was accepted before', async () => {
    expect(await rolesGranted()).toEqual(['staff', 'reader']);
    writeCrl([site.staff.certificate.serialNumber], 'newer.r0');
    expect(await rolesGranted()).toEqual(['staff', 'reader']);
    await tick('another configuration');
    expect(await refusal()).toMatch(/ are refused: The certificate of \/O=Test\/CN=Staff has been revoked\.$/);
    expect(await eventsOf('authorityLoaded', 3)).toHaveLength(3);
  });

  const BROKEN = '-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n';

  test('a broken file is named once, and keeps no other file from being renewed', async () => {
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

  test('a broken file in place of the only CRL of a CA refuses whom that CA certified, until it is mended', async () => {
    expect(await rolesGranted()).toEqual(['staff', 'reader']);
    site.write(join('crls', 'ca.crl'), BROKEN);
    await tick('another configuration');
    expect(await refusal()).toMatch(/ are refused: There is no current CRL of \/O=Test\/CN=CA\.$/);
    writeCrl([]);
    await tick('another configuration');
    expect(await rolesGranted()).toEqual(['staff', 'reader']);
  });

  test('new ones that another mistake kept out are taken once that is mended, without another change of theirs', async () => {
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

  test('what stands there and leads nowhere keeps no change of others from being seen', async () => {
    symlinkSync('round', join(site.directory, 'crls', 'round'));
    const first = service.current();
    expect(await supervisor.reload()).toBe(true);
    while (service.current() === first) await new Promise((resolve) => setImmediate(resolve));
    writeCrl([site.staff.certificate.serialNumber]);
    await tick('another configuration');
    expect(await refusal()).toMatch(/has been revoked\.$/);
  });

  test('while nothing changes nothing is read again', async () => {
    const before = (await eventsOf('authorityLoaded', 2)).length;
    await tick('nothing');
    expect(await eventsOf('authorityLoaded', 2)).toHaveLength(before);
  });

  test('a directory that is gone, and then there again, is a mistake meanwhile', async () => {
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

test('an authority with mistakes does not start, and tells all of them', () => {
  site.write('authority.toml', ['x = 1', 'y = 2', ...CONFIG_LINES].join('\n'));
  const start = (): unknown => superviseAuthority(site.config, observer());
  expect(start).toThrow(OperationError);
  expect(start).toThrow(/:1:1: unknown key "x".*\n.*:2:1: unknown key "y"/);
});

test('a thread that has closed its link is not told of reloads', async () => {
  const link = supervisor.link();
  const other = openAuthority(link);
  const closed = once(link.port, 'close');
  await other.close();
  await closed;
  expect(await supervisor.reload()).toBe(true);
});
