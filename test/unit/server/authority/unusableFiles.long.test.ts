// Unreadable files of CAs and CRLs: operators find their names in every report, the other files are used, and only
// users of a CA without a current CRL are refused.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadAuthority, type LoadedAuthority } from '../../../../server/authority/configuration/load.ts';
import { epochSeconds } from '../../../../server/observe/clock.ts';
import { CONFIG_LINES, mistakesWith, type TestSite, testSite, validAround } from '../../../support/authorities.ts';
import { makeCrl, nameDer, pemOf } from '../../../support/certificates.ts';
import { runCommand, runServer } from '../../../support/commandProcess.ts';
import { call } from '../../../support/envelopes.ts';
import { ecPair, holderOf, person } from '../../../support/pki.ts';
import { sampleSnapshot } from '../../../support/sampleSnapshot.ts';

const NOW = epochSeconds();
let site: TestSite;
beforeEach(() => {
  site = testSite({ site: ecPair(), partner: ecPair(), validity: validAround(NOW) });
  mkdirSync(join(site.directory, 'crls'));
});
afterEach(() => site.remove());

/** The lines of the configuration with these CAs, and with the directory of CRLs. */
function linesWith(ca: string): readonly string[] {
  return ['crls = "crls"', ...CONFIG_LINES.map((line) => line.replace('["ca.pem"]', ca))];
}

function writeCrl(name: string, revoked: readonly bigint[] = []): void {
  const issuer = { subject: site.ca.name, keys: { privateKey: site.ca.key } };
  const crl = makeCrl({ issuer, revoked, thisUpdate: NOW - 60, nextUpdate: NOW + 3600 });
  site.write(join('crls', name), pemOf('X509 CRL', crl));
}

/** The data of the current configuration. Throws if it has errors. */
function loaded(): LoadedAuthority {
  const loading = loadAuthority(site.config, NOW);
  if (loading.kind === 'loaded') return loading;
  throw new Error(JSON.stringify(loading.mistakes));
}

describe('files of CAs', () => {
  test.each([
    ['an HTML page', 'page.pem', /^not used: .*page\.pem: The text holds no certificate/],
    ['missing', 'none.pem', /^not used: .*authority\.toml:5:17: .*none\.pem cannot be read \(ENOENT\)$/],
  ])('are used next to one that is %s, which is named', (_, name, note) => {
    writeCrl('ca.crl');
    site.write('page.pem', '<html></html>');
    site.write('authority.toml', linesWith(`["ca.pem", "${name}"]`).join('\n'));
    const { data, unusableFiles, notes } = loaded();
    expect([unusableFiles, data.anchors.length]).toEqual([1, 1]);
    expect(notes[0]).toMatch(note);
  });

  test('are an error if none is usable, or if the CA of the authority itself is not', () => {
    site.write('page.pem', '<html></html>');
    expect(mistakesWith(site, linesWith('["page.pem"]'))).toEqual([expect.stringMatching(/^page\.pem: /)]);
    site.write('other.pem', holderOf('ca', nameDer(person('Other CA')), ecPair(), undefined, validAround(NOW)).pem);
    expect(mistakesWith(site, linesWith('["page.pem", "other.pem"]'))).toEqual([
      expect.stringMatching(/^site\.pem: /),
      expect.stringMatching(/^page\.pem: /),
    ]);
  });
});

test.each(['', '<html></html>'])('names files of CRLs that contain %j, and uses the others', (damaged) => {
  writeCrl('ca.crl');
  site.write('crls/other.r0', damaged);
  site.write('crls/policy.txt', 'no CRL, by its name');
  site.write('authority.toml', linesWith('["ca.pem"]').join('\n'));
  const { data, unusableFiles, notes } = loaded();
  expect([unusableFiles, data.crls?.length]).toEqual([1, 1]);
  expect(notes[0]).toMatch(/^not used: .*crls\/other\.r0: The text holds no CRL/);
  const unlisted = 'there is no current CRL of /O=Test/CN=CA: nobody whom it certified gets in';
  expect(notes).not.toContain(unlisted);
  site.write('crls/ca.crl', damaged);
  expect(loaded().notes).toContain(unlisted);
});

test('names damaged files in every report of a server, uses the others and renews them', async () => {
  writeCrl('ca.r0');
  site.write('crls/empty.r0', '');
  site.write('page.pem', '<html></html>');
  site.write('authority.toml', linesWith('["page.pem", "ca.pem"]').join('\n'));
  const words = ['--data', await sampleSnapshot(), '--admin-port', '0', '--threads', '1', '--authority', site.config];
  const server = await runServer(words);
  try {
    const names = [/not used: \S+\/page\.pem: The text holds no/, /not used: \S+\/empty\.r0: The text holds no CRL/];
    for (const name of names) expect(server.err()).toMatch(name);
    const [, admin] = await server.printed(/admin on (http:\S+)status\n/);
    const read = async (path: string): Promise<string> => (await fetch(`${admin!}${path}`)).text();
    const { authority } = JSON.parse(await read('status')) as { authority: Record<string, unknown> };
    expect(authority).toMatchObject({ unusableFiles: 2 });
    for (const name of names) expect(authority['notes']).toContainEqual(expect.stringMatching(name));
    expect(await read('metrics')).toMatch(/^catalogue_replica_authority_unusable_files 2$/m);
    const check = runCommand(['authority', 'check', site.config]);
    expect(await check.ended).toEqual({ code: 0, signal: null });
    for (const name of [...names, /can be used, without 2 of its files\n$/]) expect(check.out()).toMatch(name);
    const answer = async (): Promise<string> => {
      const body = call('reqAuthorisation', `<usrProxyCert>${site.staff.pem}</usrProxyCert><usrAttCert/>`);
      const headers = { 'content-type': 'text/xml' };
      return (await fetch(`${server.url}/attAuthority.wsdl`, { method: 'POST', headers, body })).text();
    };
    expect(await answer()).toContain('>AccessGranted<');
    writeCrl('ca.r0', [site.staff.certificate.serialNumber]);
    server.signal('SIGHUP');
    await expect.poll(answer, { timeout: 30_000 }).toContain('has been revoked');
  } finally {
    await server.kill();
  }
});
