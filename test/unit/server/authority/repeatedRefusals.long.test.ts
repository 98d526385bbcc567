// Repeated refusals of one client in the audit of the whole program.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { epochSeconds } from '../../../../server/observe/clock.ts';
import { type TestSite, testSite, validAround } from '../../../support/authorities.ts';
import { clientOf } from '../../../support/client.ts';
import { type Addresses, type CommandProcess, runServer } from '../../../support/commandProcess.ts';
import { call } from '../../../support/envelopes.ts';
import { sampleSnapshot } from '../../../support/sampleSnapshot.ts';

/** Concurrent requests, fewer than the authority lets wait. */
const AT_ONCE = 200;
const ROUNDS = 10;
const GRANTS = 5;

let site: TestSite;
beforeAll(() => {
  site = testSite({ validity: validAround(epochSeconds()) });
});
afterAll(() => site.remove());

interface Line {
  readonly event: string;
  readonly status?: string;
  readonly reason?: string;
  readonly peer?: string;
  readonly repeated?: number;
}

const linesOf = (text: string): readonly Line[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

async function send(server: Addresses, usrProxyCert: string, times: number): Promise<void> {
  const body = call('reqAuthorisation', `<usrProxyCert>${usrProxyCert}</usrProxyCert><usrAttCert/>`);
  const client = clientOf(server.url);
  const sent = { method: 'POST', target: '/attAuthority.wsdl', headers: { 'content-type': 'text/xml' }, body };
  for (let i = 0; i < times; i++) expect((await client.send(sent)).status).toBe(200);
  client.close();
}

async function decisionsCounted(server: CommandProcess): Promise<number> {
  const [, address] = await server.printed(/admin on (http:\S+)status\n/);
  const text = await (await fetch(`${address!}metrics`)).text();
  const counts = text.matchAll(/^catalogue_replica_authority_authorisations_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

test.each([
  ['a file', (audit: string) => ['--audit-log', audit]],
  ['standard output', () => []],
])(
  'writes few lines for a flood of refusals in %s, which count all, and one line for each grant',
  async (where, flags) => {
    const audit = join(site.directory, `${where}.log`);
    const words = ['--threads', '1', '--admin-port', '0', '--data', await sampleSnapshot(), '--authority', site.config];
    const server = await runServer([...words, ...flags(audit)]);
    try {
      const flood = Array.from({ length: AT_ONCE }, () => send(server, 'nothing', ROUNDS));
      await Promise.all([...flood, send(server, site.staff.pem, GRANTS)]);
      const total = AT_ONCE * ROUNDS + GRANTS;
      await expect.poll(() => decisionsCounted(server), { timeout: 30_000 }).toBe(total);
      server.signal('SIGTERM');
      expect(await server.ended).toEqual({ code: 0, signal: null });
      const lines = linesOf(flags(audit).length > 0 ? readFileSync(audit, 'utf8') : server.out());
      const decisions = lines.filter(({ event }) => event === 'authorisation');
      const counts = lines.filter(({ event }) => event === 'refusalsRepeated');
      expect(decisions.filter(({ status }) => status === 'AccessGranted').length).toBe(GRANTS);
      expect(decisions.length + counts.reduce((sum, { repeated = 0 }) => sum + repeated, 0)).toBe(total);
      expect(counts.map(({ reason }) => reason)).toEqual(expect.arrayContaining(['userChain']));
      expect(new Set(counts.map(({ peer }) => peer))).toEqual(new Set(['127.0.0.1']));
      // A slow machine may take some minutes for it.
      expect(lines.length).toBeLessThan(2 * GRANTS + 50);
    } finally {
      await server.kill();
    }
  },
);

test.skipIf(process.platform === 'win32')('writes the pending counts on a reload', async () => {
  const audit = join(site.directory, 'reload.log');
  const words = ['--threads', '1', '--data', await sampleSnapshot(), '--authority', site.config];
  const server = await runServer([...words, '--audit-log', audit]);
  try {
    await send(server, 'nothing', 5);
    server.signal('SIGHUP');
    const repeated = (): unknown =>
      linesOf(readFileSync(audit, 'utf8')).find(({ event }) => event === 'refusalsRepeated');
    await expect.poll(repeated, { timeout: 30_000 }).toMatchObject({ reason: 'userChain', repeated: 4 });
  } finally {
    await server.kill();
  }
});
