// A server process with an authority that is configured by files, for tests with other projects' SOAP clients. It has
// the trusted hosts of memoryAuthority, the users of testSite and some with unusual names.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameDer } from '../../server/authority/issuance.ts';
import { epochMs } from '../../server/observe/clock.ts';
import { CONFIG_LINES, type TestSite, testSite, validAround, TRUSTED_HOSTS } from './authorities.ts';
import { type Addresses, type CommandProcess, runServer } from './commandProcess.ts';
import { ecPair, type Holder, holderOf, person } from './pki.ts';
import { settled } from './waits.ts';

/** Roles of MANY_ROLES, so that its attribute certificate is long. */
export const MANY = Array.from({ length: 2000 }, (_, i) => `role ${i} größer & <weiter>`);
/** The name of the user with these roles. */
export const MANY_ROLES = 'Ålesund 日本 & <Söhne>';
/** The name of a user without roles. */
export const STRANGER = 'Øyvind 日本';

/**
 * A server of an authority in files. `manyRoles` has the roles MANY, `stranger` has none. `now` is its start, in
 * seconds since 1970. `seen` resolves once the audit log has the digest of this usrProxyCert, which must arrive byte
 * for byte.
 */
export interface ServedSite {
  readonly site: TestSite;
  readonly server: CommandProcess & Addresses;
  readonly manyRoles: Holder;
  readonly stranger: Holder;
  readonly now: number;
  seen(usrProxyCert: string): Promise<void>;
  stop(): Promise<void>;
}

const PLANT = new URL('./defects/plant.ts', import.meta.url).href;

/** Starts the server with both ports and one thread, with the named defect planted. */
export async function startServedSite(defect?: string): Promise<ServedSite> {
  const now = Math.floor(epochMs() / 1000);
  const validity = validAround(now);
  const site = testSite({ site: ecPair(), validity });
  const holder = (name: string): Holder => holderOf('user', nameDer(person(name)), ecPair(), site.ca, validity);
  const users = [
    [MANY_ROLES, MANY],
    ['Staff', ['staff', 'reader']],
  ] as const;
  site.write('users', users.map(([name, roles]) => `"/O=Test/CN=${name}" ${roles.join(',')}\n`).join(''));
  site.write('authority.toml', [...CONFIG_LINES, ...hostLines(TRUSTED_HOSTS)].join('\n'));
  const audit = join(site.directory, 'audit.log');
  const flags = ['--threads', '1', '--authority', site.config, '--audit-log', audit];
  const node = defect === undefined ? [] : ['--import', `${PLANT}?defect=${defect}`];
  const server = await runServer(flags, { node });
  return {
    site,
    server,
    manyRoles: holder(MANY_ROLES),
    stranger: holder(STRANGER),
    now,
    async seen(text) {
      const digest = createHash('sha256').update(text).digest('hex');
      await settled(() => readFileSync(audit, 'utf8').includes(digest));
    },
    async stop() {
      server.signal('SIGTERM');
      const { code } = await server.ended;
      site.remove();
      if (code !== 0) throw new Error(`the server ended with ${code}:\n${server.out()}${server.err()}`);
    },
  };
}

/** Configuration lines of hosts with these strings for each role. */
function hostLines(hosts: typeof TRUSTED_HOSTS): readonly string[] {
  const found = new Map<string, { uri: string; roles: string[] }>();
  for (const [local, strings] of hosts) {
    for (const text of strings) {
      const [, name = '', uri = '', remotes = ''] = /^(.*?):(.*):(.*)$/.exec(text) ?? [];
      const host = found.get(name) ?? { uri, roles: [] };
      for (const remote of remotes.split(', '))
        host.roles.push(`{ remote = ${JSON.stringify(remote)}, local = ${JSON.stringify(local)} }`);
      found.set(name, host);
    }
  }
  return [...found].flatMap(([name, { uri, roles }]) => [
    '[[trustedHost]]',
    `name = ${JSON.stringify(name)}`,
    `uri = ${JSON.stringify(uri)}`,
    'signer = "/O=Test/CN=Partner Authority"',
    `roles = [${roles.join(', ')}]`,
  ]);
}
