import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { epochSeconds } from '../../../../server/observe/clock.ts';
import { type TestSite, testSite, validAround } from '../../../support/authorities.ts';
import { clientOf } from '../../../support/client.ts';
import { runServer } from '../../../support/commandProcess.ts';
import { call } from '../../../support/envelopes.ts';
import { sampleSnapshot } from '../../../support/sampleSnapshot.ts';

let site: TestSite;
beforeAll(() => {
  site = testSite({ validity: validAround(epochSeconds()) });
});
afterAll(() => site.remove());

/** A member of each line of a log that has it. */
function membersIn(log: string, member: string): readonly unknown[] {
  return readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as Record<string, unknown>)[member])
    .filter((value) => value !== undefined);
}

test('records each decision under the id that the access log and the response have', async () => {
  const [audit, access] = ['audit.log', 'access.log'].map((name) => join(site.directory, name)) as [string, string];
  const logs = ['--audit-log', audit, '--access-log', access, '--trusted-proxy', '127.0.0.1/32'];
  const words = ['--data', await sampleSnapshot(), '--threads', '1', '--authority', site.config];
  const server = await runServer([...words, ...logs]);
  const body = call('reqAuthorisation', `<usrProxyCert>${site.staff.pem}</usrProxyCert><usrAttCert/>`);
  try {
    const ids: string[] = [];
    for (const port of [server.port, server.http10Port]) {
      const client = clientOf(`http://127.0.0.1:${port}`);
      // Another thread parses a long one.
      for (const sent of [body, body.padEnd(20_000)]) {
        const id = `of-${ids.length}`;
        const headers = { 'content-type': 'text/xml', 'x-request-id': id };
        const answer = await client.send({ method: 'POST', target: '/attAuthority.wsdl', headers, body: sent });
        expect(answer.headers['x-request-id']).toBe(id);
        ids.push(id);
      }
      client.close();
    }
    server.signal('SIGTERM');
    await server.ended;
    expect(membersIn(audit, 'requestId')).toEqual(ids);
    expect(membersIn(access, 'id')).toEqual(ids);
  } finally {
    await server.kill();
  }
});
