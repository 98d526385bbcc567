// Attribute authorities for tests. `testSite` writes the files of one with a partner and some users, valid around AT of
// pki.ts by default. `memoryAuthority` needs no certificates or keys.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeSigner } from '../../server/authority/attributeCertificate/write.ts';
import { type Authorisation, type Authority } from '../../server/authority/authority.ts';
import { mistakeText } from '../../server/authority/configuration/files.ts';
import { type AuthorityData, loadAuthority } from '../../server/authority/configuration/load.ts';
import { nameDer } from '../../server/authority/issuance.ts';
import { AT, ecPair, type Holder, holderOf, type KeyPair, person, rsaPair } from './pki.ts';

/**
 * The files of an authority and its users. `staff` has roles here, `visitor` only at the partner. `remove` deletes the
 * files.
 */
export interface TestSite {
  readonly directory: string;
  readonly config: string;
  readonly ca: Holder;
  readonly site: Holder;
  readonly partner: Holder;
  readonly staff: Holder;
  readonly visitor: Holder;
  write(name: string, text: string | Uint8Array): void;
  remove(): void;
}

/** The configuration of a TestSite, one element a line; tests replace lines. */
export const CONFIG_LINES: readonly string[] = [
  'name = "Here"',
  'key = "site.key"',
  'certificate = "site.pem"',
  'ca = ["ca.pem"]',
  'usersFile = "users"',
  '[users]',
  '"/O=Test/CN=Boss" = ["admin", "staff"]',
  '[[trustedHost]]',
  'name = "Partner"',
  'uri = "https://partner.example.org/attAuthority.wsdl"',
  'signer = "/O=Test/CN=Partner Authority"',
  'roles = [',
  '  { remote = "student", local = "reader" },',
  '  { remote = "staff", local = "editor" },',
  ']',
];

/** Options of a site: the keys of the two authorities, and the validity of all certificates. */
export interface SiteOptions {
  readonly site?: KeyPair;
  readonly partner?: KeyPair;
  readonly validity?: Parameters<typeof holderOf>[4];
}

/** Validity for certificates of a running service, which reads the clock. */
export function validAround(at: number): { readonly notBefore: number; readonly notAfter: number } {
  return { notBefore: at - 3600, notAfter: at + 86_400 };
}

/** Writes the files of a site. Cost: two RSA keys unless the options have them. */
export function testSite({ validity, ...keys }: SiteOptions = {}): TestSite {
  const directory = mkdtempSync(join(tmpdir(), 'authority-'));
  const write = (name: string, text: string | Uint8Array): void =>
    writeFileSync(join(directory, name), text, { mode: 0o600 });
  const ca = holderOf('ca', nameDer(person('CA')), ecPair(), undefined, validity);
  const issue = (kind: 'user' | 'signer', commonName: string, pair: KeyPair): Holder =>
    holderOf(kind, nameDer(person(commonName)), pair, ca, validity);
  const site = issue('signer', 'Here Authority', keys.site ?? rsaPair());
  const partner = issue('signer', 'Partner Authority', keys.partner ?? rsaPair());
  const staff = issue('user', 'Staff', ecPair());
  const visitor = issue('user', 'Visitor', ecPair());
  write('ca.pem', ca.pem);
  write('site.pem', site.pem);
  write('site.key', site.key.export({ type: 'pkcs8', format: 'pem' }));
  write('users', '# name, roles\n\n"/O=Test/CN=Staff" staff, reader\n');
  write('authority.toml', CONFIG_LINES.join('\n'));
  const remove = (): void => rmSync(directory, { recursive: true });
  return { directory, config: join(directory, 'authority.toml'), ca, site, partner, staff, visitor, write, remove };
}

/** The errors in the current configuration, with file names relative to the site's directory. */
export function mistakesIn({ config, directory }: TestSite, at = AT): readonly string[] {
  const loading = loadAuthority(config, at);
  if (loading.kind === 'loaded') return [];
  return loading.mistakes.map((mistake) => mistakeText(mistake).replaceAll(`${directory}/`, ''));
}

/** The errors in a configuration of these lines. */
export function mistakesWith(site: TestSite, lines: readonly string[]): readonly string[] {
  site.write('authority.toml', lines.join('\n'));
  return mistakesIn(site);
}

/** The data of the current configuration. Throws if it has errors. */
export function loadedData({ config }: TestSite): AuthorityData {
  const loading = loadAuthority(config, AT);
  if (loading.kind === 'loaded') return loading.data;
  throw new Error(JSON.stringify(loading.mistakes));
}

export function partnersCertificate(
  { partner }: TestSite,
  change: Partial<Parameters<ReturnType<typeof makeSigner>>[0]> = {},
  by: Holder = partner,
): string {
  return makeSigner(by)({
    holder: '/O=Test/CN=Visitor',
    issuer: '/O=Test/CN=Partner Authority',
    issuerName: 'Partner',
    notBefore: AT - 100,
    notAfter: AT + 100,
    roles: ['student'],
    provenance: 'original',
    ...change,
  });
}

/** Roles with several hosts, one host and none; a role named like a JavaScript member; texts that need escaping. */
export const TRUSTED_HOSTS: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'academic',
    ['Site A:https://a.example.org/attAuthority.wsdl:reader, writer', 'Site B:http://b.example.org:8080/aa:staff'],
  ],
  ['one', ['Site A:https://a.example.org/attAuthority.wsdl:reader']],
  ['none', []],
  ['__proto__', ['Site P:http://p.example.org/:proto']],
  ['Ångström 日本', ['Ørsted:http://o.example.org/:å, 日']],
  ['Ångström 日本 𝄞', ['Zürich & Söhne <a>:http://z.example.org/?a=1&b=2:größe, "x" \'y\'']],
  ['many', Array.from({ length: 2000 }, (_, i) => `Site ${i}:http://site${i}.example.org/attAuthority.wsdl:role${i}`)],
]);

/** The text of the error that `memoryAuthority` throws if a request contains `break`: no client may see it. */
export const SECRET = 'secret /srv/replica/key.pem';

/** An authority that grants requests with both certificates. Its response repeats them. */
export function memoryAuthority(trustedHosts = TRUSTED_HOSTS): Authority {
  return {
    trustedHosts,
    authorise: ({ usrProxyCert, usrAttCert }) => {
      if (usrProxyCert === 'break' || usrAttCert === 'break') throw new Error(SECRET);
      if (!usrProxyCert.includes('-----BEGIN CERTIFICATE-----')) {
        return refused('AccessError', 'usrProxyCert holds no certificate: “é” & <x>.');
      }
      if (usrAttCert === '') return refused('AccessDenied', 'The user is not registered here.');
      return { attCert: granted(usrProxyCert, usrAttCert), statCode: 'AccessGranted', errMsg: '' };
    },
  };
}

/** The `attCert` of a granted request: markup that contains both texts of the request. */
export function granted(usrProxyCert: string, usrAttCert: string): string {
  return `<attributeCertificate><acInfo>${usrProxyCert}|${usrAttCert}</acInfo></attributeCertificate>`;
}

function refused(statCode: Authorisation['statCode'], errMsg: string): Authorisation {
  return { attCert: '', statCode, errMsg };
}
