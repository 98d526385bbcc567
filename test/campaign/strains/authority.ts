// Mutates, byte by byte, what the attribute authority reads from clients and files: certificates, revocation lists and
// configurations in this process; envelopes over both sockets, while the watching client polls.
import { join } from 'node:path';
import { OperationError } from '../../../data/operationError.ts';
import { loadAuthority } from '../../../server/authority/configuration/load.ts';
import { CONFIG_LINES, testSite } from '../../support/authorities.ts';
import { fuzzCertificates, mutated } from '../../support/certificateFuzz.ts';
import { AT, caExtensions, makeCa, makeCrl, makeProxy, makeUser } from '../../support/certificates.ts';
import { clientOf } from '../../support/client.ts';
import { roleCall } from '../../support/envelopes.ts';
import { hostileEnvelope } from '../../support/hostileEnvelopes.ts';
import { AT as SITE_AT } from '../../support/pki.ts';
import type { Random } from '../../support/random.ts';
import { outcomeOf, type Strain } from '../strain.ts';

const CERTIFICATES = 3000;
const ENVELOPES = 150;
const CONFIGURATIONS = 100;
const PATH = '/attAuthority.wsdl';
const STATUSES = [200, 413, 415, 500];

/** Mutated certificates and revocation lists: read or refused, and none accepted without a valid signature. */
export const certificates: Strain = {
  name: 'mutated certificates',
  run: async (random) => {
    const ca = makeCa('CA');
    const lower = makeCa('Lower', { issuer: ca, extensions: caExtensions(0) });
    const user = makeUser('Ada', lower);
    const chain = [makeProxy(user), user, lower, ca].map(({ der }) => der);
    const crls = [makeCrl({ issuer: ca, revoked: [1n, 2n, 3n] }), makeCrl({ issuer: lower })];
    const seed = random.integer(0, 2 ** 32);
    const task = { seed, count: CERTIFICATES, at: AT, certificates: chain, crls, chain };
    return outcomeOf({ tried: CERTIFICATES, finds: (await fuzzCertificates(task)).faults });
  },
};

/** Hostile envelopes: both transports respond alike, and a valid call still gets its usual response. */
export const envelopes: Strain = {
  name: 'hostile envelopes',
  run: async (random, { server }) => {
    const clients = [server.port, server.http10Port].map((port) => clientOf(`http://127.0.0.1:${port}`));
    const headers = { 'Content-Type': 'text/xml' };
    const ask = (body: Uint8Array): Promise<readonly string[]> =>
      Promise.all(
        clients.map(async (client) => {
          const answer = await client.send({ method: 'POST', target: PATH, headers, body });
          return `${answer.status} ${answer.body}`;
        }),
      );
    const good = Buffer.from(roleCall('academic'));
    try {
      const finds: string[] = [];
      const before = await ask(good);
      for (let i = 0; i < ENVELOPES; i++) {
        const body = hostileEnvelope(random);
        const [uws, node] = await ask(body);
        const isKnown = STATUSES.includes(Number(uws!.slice(0, 3))) && !uws!.includes('SOAP-ENV:Server');
        if (uws !== node || !isKnown) finds.push(`${uws} and ${node} to ${JSON.stringify(body.toString('latin1'))}`);
      }
      if (String(await ask(good)) !== String(before)) finds.push('a good call is answered in another way than before');
      return outcomeOf({ tried: 2 * ENVELOPES, finds });
    } finally {
      for (const client of clients) client.close();
    }
  },
};

/** Mutated configurations and the files that they name: loaded, or refused with a list of errors. */
export const configurations: Strain = {
  name: 'mutated configuration',
  run: (random) => {
    const site = testSite();
    try {
      const finds: string[] = [];
      const good = Buffer.from(CONFIG_LINES.join('\n'));
      for (let i = 0; i < CONFIGURATIONS; i++) {
        const text = changedText(good, random);
        site.write('authority.toml', text);
        try {
          loadAuthority(join(site.directory, 'authority.toml'), SITE_AT);
        } catch (error) {
          if (!(error instanceof OperationError))
            finds.push(`${String(error)} from ${JSON.stringify(text.toString('latin1'))}`);
        }
      }
      return Promise.resolve(outcomeOf({ tried: CONFIGURATIONS, finds }));
    } finally {
      site.remove();
    }
  },
};

/** Removes, duplicates or moves lines, or changes bytes. */
function changedText(good: Buffer, random: Random): Buffer {
  if (random.chance(0.5)) return mutated(good, good, random);
  return Buffer.from(random.several(1, 2 * CONFIG_LINES.length, () => random.pick(CONFIG_LINES)).join('\n'));
}
