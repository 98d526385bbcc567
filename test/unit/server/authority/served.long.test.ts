// The attribute authority as a whole: the program as operators start it, with requests over HTTP, reloads by signal,
// and the audit.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../../../server/commands/commands.ts';
import { DEMONSTRATION_FILES } from '../../../../server/authority/demonstration.ts';
import { epochMs } from '../../../../server/observe/clock.ts';
import { FAULTS } from '../../../../server/authority/soap/faults.ts';
import { faultBytes } from '../../../../server/authority/soap/answers.ts';
import { nicer } from '../../../../workers/niceness.ts';
import { judged, xmlCryptoVerdict, xmlsecVerdict } from '../../../support/attributeCertificates.ts';
import { clientOf, type Received } from '../../../support/client.ts';
import { type Addresses, type CommandProcess, runCommand, runServer } from '../../../support/commandProcess.ts';
import { hasProgram } from '../../../support/debian.ts';
import { call, roleCall, unescaped } from '../../../support/envelopes.ts';
import { sampleSnapshot } from '../../../support/sampleSnapshot.ts';

const PATH = '/attAuthority.wsdl';
const FORM = join('.cache', 'catalogue-replica', 'demonstration-authority');

let home: string;
let server: CommandProcess & Addresses;
/** The demonstration's directory. The home of the process is a directory of the test. */
let files: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'authority-home-'));
  files = join(home, FORM);
  server = await runServer(['--threads', '2', '--admin-port', '0'], { environment: { HOME: home } });
});
afterAll(async () => {
  await server.kill();
  rmSync(home, { recursive: true });
});

async function posted(port: number, body: string): Promise<Received> {
  const client = clientOf(`http://127.0.0.1:${port}`);
  const received = await client.send({ method: 'POST', target: PATH, headers: { 'content-type': 'text/xml' }, body });
  client.close();
  return received;
}

/** Sends an envelope to a server. Returns the texts of the parts, unescaped. */
async function asked(port: number, body: string): Promise<ReadonlyMap<string, string>> {
  const { status, body: answer } = await posted(port, body);
  expect(status).toBe(200);
  const parts = [...answer.matchAll(/<(attCert|statCode|errMsg|item)[^>]*>([^<]*)</g)];
  return new Map(parts.map(([, name, text]) => [name!, unescaped(text!)]));
}

/** The counts of responses by their labels, from the metrics of a server. */
async function answersCounted(command: CommandProcess): Promise<ReadonlyMap<string, number>> {
  const [, address] = await command.printed(/admin on (http:\S+)status\n/);
  const text = await (await fetch(`${address!}metrics`)).text();
  return new Map(
    [...text.matchAll(/^catalogue_replica_soap_answers_total\{(.*)\} ([1-9]\d*)$/gm)].map(([, labels, count]) => [
      labels!,
      Number(count),
    ]),
  );
}

function authorisation(chain: string, certificate = ''): string {
  const escaped = certificate.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return call('reqAuthorisation', `<usrProxyCert>${chain}</usrProxyCert><usrAttCert>${escaped}</usrAttCert>`);
}

const now = (): number => Math.floor(epochMs() / 1000);
const file = (name: keyof typeof DEMONSTRATION_FILES): string =>
  readFileSync(join(files, DEMONSTRATION_FILES[name]), 'utf8');

// At the highest niceness all threads are alike.
const canBeNicer = process.platform === 'linux' && nicer(getPriority()) > getPriority();
test.runIf(canBeNicer)('lowers the priority of one thread only: the authority thread', async () => {
  // proc(5), stat: the niceness is the 17th field after the name.
  const niceOf = (thread: string): string | undefined =>
    readFileSync(`/proc/${server.pid}/task/${thread}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')[16];
  const niceThreads = (): number =>
    readdirSync(`/proc/${server.pid}/task`).filter((thread) => niceOf(thread) === String(nicer(getPriority()))).length;
  await expect.poll(niceThreads, { timeout: 30_000 }).toBe(1);
});

test('answers a long message like a short one', async () => {
  const short = await posted(server.port, roleCall('data-reader'));
  const long = await posted(server.port, roleCall('data-reader').padEnd(1 << 20));
  expect([long.status, long.body]).toEqual([200, short.body]);
  expect((await posted(server.port, roleCall('\r<'.repeat(20_000)))).body).toBe(
    Buffer.from(faultBytes(FAULTS.illFormed)).toString(),
  );
});

describe('the program without any setting', () => {
  test('reports in one line after the data that its authority is a demonstration, and where its files are', () => {
    const lines = server.err().split('\n');
    const notice = `attribute authority: a demonstration, not for real use; requests for it are in ${files}`;
    expect(lines.filter((line) => line.includes('authority:'))).toEqual([notice]);
    expect(lines.indexOf(notice)).toBeGreaterThan(lines.findIndex((line) => line.startsWith('loaded ')));
  });

  test('answers both operations on both ports', async () => {
    for (const port of [server.port, server.http10Port]) {
      expect(await asked(port, roleCall('data-reader'))).toEqual(
        new Map([
          ['item', 'Demonstration Archive:https://archive.example.org/attAuthority.wsdl:archivist, reader'],
          ['errMsg', ''],
        ]),
      );
      const own = await asked(port, authorisation(file('user')));
      expect([own.get('statCode'), judged(own.get('attCert')!)]).toMatchObject([
        'AccessGranted',
        { roles: ['staff', 'data-reader'], provenance: 'original' },
      ]);
      const mapped = await asked(port, authorisation(file('visitor'), file('visitorCertificate')));
      expect([mapped.get('statCode'), judged(mapped.get('attCert')!)]).toMatchObject([
        'AccessGranted',
        { roles: ['data-reader'], provenance: 'mapped' },
      ]);
      for (const issued of [own, mapped].map((answer) => answer.get('attCert')!)) {
        expect(xmlCryptoVerdict(issued, readFileSync(join(files, 'authority.pem'), 'utf8'))).toBe(true);
        if (!hasProgram('xmlsec1')) continue;
        expect(xmlsecVerdict(issued, readFileSync(join(files, 'ca.pem'), 'utf8'), now())).toBe('good');
      }
      const denied = await asked(port, authorisation(file('visitor')));
      expect([denied.get('statCode'), denied.get('attCert')]).toEqual(['AccessDenied', '']);
    }
  });

  test.each(['port', 'http10Port'] as const)(
    'counts the responses of its %s, by operation and status, of all threads together',
    async (port) => {
      const before = await answersCounted(server);
      const bodies = [
        ...Array.from({ length: 8 }, () => roleCall('data-reader')),
        roleCall('nobody knows'),
        roleCall(''),
        roleCall('staff'),
        authorisation(file('user')),
        authorisation(file('visitor')),
        authorisation('nothing'),
        'no XML',
        roleCall('<a/>'),
        '<Envelope xmlns="http://www.w3.org/2003/05/soap-envelope"/>',
      ];
      await Promise.all(bodies.map((body) => posted(server[port], body)));
      const after = await answersCounted(server);
      expect(new Map([...after].map(([labels, count]) => [labels, count - (before.get(labels) ?? 0)]))).toEqual(
        new Map([
          ['operation="getTrustedHostInfo",status="listed"', 9],
          ['operation="getTrustedHostInfo",status="unknownRole"', 1],
          ['operation="getTrustedHostInfo",status="noRole"', 1],
          ['operation="reqAuthorisation",status="AccessGranted"', 1],
          ['operation="reqAuthorisation",status="AccessDenied"', 1],
          ['operation="reqAuthorisation",status="AccessError"', 1],
          ['operation="none",status="Client"', 2],
          ['operation="none",status="VersionMismatch"', 1],
        ]),
      );
    },
  );

  test('shows a grant, a denial, a mapping and the trusted hosts, as in its guide', async () => {
    const guide = file('guide');
    expect(guide).toMatch(/^A grant: .*^A denial: .*^A mapping: /ms);
    const calls = [...guide.matchAll(/^ +catalogue-replica (authority call .*)$/gm)].map(([, words]) => words!);
    const printed = calls.map(async (words) => {
      const placed = words
        .replace('http://localhost:8080', server.url)
        .split(' ')
        .map((word) => (/\.(?:pem|xml)$/.test(word) ? join(files, word) : word));
      let out = '';
      const stdout = { write: (text: string): unknown => (out += text) };
      const line = await commandLine({ stdout, stderr: stdout });
      const parsed = line.parseAsync(placed, { from: 'user' });
      return parsed.then(() => out).catch((error: unknown) => String(error));
    });
    const [grant, denial, mapping, hosts] = await Promise.all(printed);
    expect(grant).toMatch(/^holder .*Sample User$.*^roles +staff, data-reader$.*^provenance +original$/ms);
    expect(denial).toContain('AccessDenied: The user');
    expect(mapping).toMatch(/^holder .*Sample Visitor$.*^roles +data-reader$.*^provenance +mapped$/ms);
    expect(hosts).toContain('Demonstration Partner:');
  });

  test('prints its decisions, one line of JSON each', async () => {
    const [line] = await server.printed(/^\{.*"status":"AccessDenied".*\}$/m);
    expect(JSON.parse(line)).toMatchObject({
      event: 'authorisation',
      reason: 'unregistered',
      proxy: 'full',
      serialNumber: '',
    });
  });

  test('writes only decisions to standard output, and all else to standard error', () => {
    const lines = server.out().trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines)
      expect((JSON.parse(line) as { event: string }).event).toBeOneOf(['authorisation', 'refusalsRepeated']);
    expect(server.err()).toContain('listening on ');
    expect(server.err()).not.toContain('"event"');
  });

  test('grants nothing once its standard output has no reader, and reports that to the client', async () => {
    const unheard = await runServer(['--threads', '1'], { environment: { HOME: home } });
    try {
      expect((await asked(unheard.port, authorisation(file('user')))).get('statCode')).toBe('AccessGranted');
      unheard.deafen();
      const parts = await asked(unheard.port, authorisation(file('user')));
      expect([parts.get('statCode'), parts.get('attCert')]).toEqual(['AccessError', '']);
      expect(parts.get('errMsg')).toContain('cannot record its decisions');
    } finally {
      await unheard.kill();
    }
  });
});

describe.skipIf(process.platform === 'win32')('the program with a configured authority', () => {
  test('writes a separate audit log, reloads atomically on SIGHUP, and drains', async () => {
    const config = join(files, DEMONSTRATION_FILES.config);
    const audit = join(home, 'audit.log');
    const configured = await runServer([
      '--data',
      await sampleSnapshot(),
      '--threads',
      '2',
      '--authority',
      config,
      '--audit-log',
      audit,
      '--admin-port',
      '0',
      '--base-url',
      'https://aa.example.org/catalogue',
    ]);
    try {
      for (const port of [configured.port, configured.http10Port]) {
        const client = clientOf(`http://127.0.0.1:${port}`);
        const { body } = await client.get(`${PATH}?wsdl`, { Host: 'evil.example.org' });
        expect(body).toContain(' location="https://aa.example.org/catalogue/attAuthority.wsdl"');
        expect(body).not.toContain('evil');
        client.close();
      }
      let decisions = 0;
      const rolesNow = async (): Promise<unknown> => {
        decisions++;
        const verdict = judged((await asked(configured.port, authorisation(file('user')))).get('attCert')!);
        return typeof verdict === 'string' ? verdict : verdict.roles;
      };
      expect(await rolesNow()).toEqual(['staff', 'data-reader']);
      const users = readFileSync(join(files, 'users'), 'utf8');
      writeFileSync(join(files, 'users'), users.replace('staff, data-reader', 'guest'));
      writeFileSync(config, `mistake = 1\n${file('config')}`);
      configured.signal('SIGHUP');
      await configured.printed(
        /not reloaded, the configuration before goes on\n.*authority\.toml:1:1: unknown key "mistake"/,
      );
      expect(await rolesNow()).toEqual(['staff', 'data-reader']);
      writeFileSync(config, file('config').replace('mistake = 1\n', ''));
      configured.signal('SIGHUP');
      await configured.printed(/(?:users: 1, trusted hosts: 2\)[^]*){2}/);
      while (JSON.stringify(await rolesNow()) !== '["guest"]');
      const [, address] = await configured.printed(/admin on (http:\S+)status\n/);
      const scraped = await (await fetch(`${address!}metrics`)).text();
      expect(scraped).toMatch(
        /^catalogue_replica_authority_authorisations_total\{status="AccessGranted",reason=""\} [1-9]\d*$/m,
      );
      expect(scraped).toMatch(/^catalogue_replica_authority_loads_total\{outcome="loaded"\} 2$/m);
      expect((await fetch(`${address!}other`)).status).toBe(404);
      writeFileSync(join(files, 'users'), users);
      configured.signal('SIGTERM');
      expect(await configured.ended).toEqual({ code: 0, signal: null });
      // Each decision has one line; the rest are events of the supervisor.
      const lines = readFileSync(audit, 'utf8').trimEnd().split('\n');
      expect(lines.filter((line) => line.includes('"authorisation"')).length).toBe(decisions);
      const events = readFileSync(audit, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { event: string });
      expect(new Set(events.map(({ event }) => event))).toEqual(
        new Set(['authorityLoaded', 'authorisation', 'authorityReloadRefused']),
      );
      expect(configured.out()).not.toContain('"event"');
    } finally {
      await configured.kill();
    }
  });

  test.runIf(process.platform === 'linux')('grants nothing on a full disk, and reports it', async () => {
    const config = join(files, DEMONSTRATION_FILES.config);
    const words = ['--data', await sampleSnapshot(), '--threads', '1', '--authority', config];
    const full = await runServer([...words, '--audit-log', '/dev/full']);
    try {
      const parts = await asked(full.port, authorisation(file('user')));
      expect([parts.get('statCode'), parts.get('attCert')]).toEqual(['AccessError', '']);
      expect(parts.get('errMsg')).toContain('cannot record its decisions');
      await full.printed(/the audit log \/dev\/full cannot be written \(ENOSPC\): .*"reason":"unrecorded"/);
    } finally {
      await full.kill();
    }
  });

  test('grants nothing while the directory of its audit is missing, and grants again when it is back', async () => {
    const config = join(files, DEMONSTRATION_FILES.config);
    const directory = join(home, 'audits');
    const audit = join(directory, 'audit.log');
    mkdirSync(directory);
    const words = ['--data', await sampleSnapshot(), '--threads', '1', '--authority', config];
    const lost = await runServer([...words, '--audit-log', audit]);
    const granted = async (): Promise<unknown> => {
      const parts = await asked(lost.port, authorisation(file('user')));
      expect(parts.get('attCert') !== '').toBe(parts.get('statCode') === 'AccessGranted');
      return parts.get('statCode');
    };
    const recorded = (status: string): number =>
      readFileSync(audit, 'utf8')
        .split('\n')
        .filter((line) => line.includes(`"status":"${status}"`)).length;
    try {
      expect(await granted()).toBe('AccessGranted');
      expect(recorded('AccessGranted')).toBe(1);
      rmSync(directory, { recursive: true });
      expect(await granted()).toBe('AccessError');
      await lost.printed(/the audit log \S+ cannot be written \(ENOENT\): .*"reason":"unrecorded"/);
      mkdirSync(directory);
      expect(await granted()).toBe('AccessGranted');
      expect(recorded('AccessGranted')).toBe(1);
    } finally {
      await lost.kill();
    }
  });

  test('does not start with errors, and reports all of them with file and line, before it reads any data', async () => {
    const config = join(home, 'wrong.toml');
    writeFileSync(config, 'name = "x:y"\nkey = "none"\nusersFile = "wrong-users"\n[[trustedHost]]\nname = "Partner"\n');
    writeFileSync(join(home, 'wrong-users'), '# none\nnobody\n');
    const data = join(home, 'no such data');
    const refused = runCommand(['serve', '--port', '0', '--data', data, '--authority', config]);
    expect(await refused.ended).toEqual({ code: 1, signal: null });
    expect(refused.out()).toBe('');
    const places = refused.err().trimEnd().split('\n');
    expect(places.map((line) => /^catalogue-replica: .*\/([a-z-]+(?:\.toml)?(?::\d+){0,2}): /.exec(line)?.[1])).toEqual(
      [
        'wrong.toml',
        'wrong.toml',
        'wrong.toml:1:1',
        'wrong.toml:2:1',
        'wrong.toml:4:3',
        'wrong.toml:4:3',
        'wrong-users:2',
      ],
    );
    const missing = runCommand(['serve', '--port', '0', '--data', data]);
    expect((await missing.ended).code).toBe(1);
    expect(missing.err()).toContain(data);
  });
});

test('has no authority if the program has its own data and no authority is configured', async () => {
  symlinkSync(fileURLToPath(new URL('../../../../data/sample', import.meta.url)), join(home, 'sample'));
  const own = await runServer(['--threads', '1', '--data', join(home, 'sample')]);
  const client = clientOf(own.url);
  expect((await client.get(PATH)).status).toBe(404);
  client.close();
  await own.kill();
});
