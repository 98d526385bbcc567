import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadAuthority } from '../../../../server/authority/configuration/load.ts';
import { CONFIG_LINES, type TestSite, testSite } from '../../../support/authorities.ts';
import { basicConstraints, keyUsage, makeCa } from '../../../support/certificates.ts';
import { AT, ecPair, rsaPair } from '../../../support/pki.ts';

let site: TestSite;
beforeAll(() => void (site = testSite()));
afterAll(() => site.remove());

/** The notes about trusted hosts, or the errors if the configuration is refused. */
function hostNotesOf(lines: readonly string[]): readonly string[] {
  site.write('authority.toml', lines.join('\n'));
  const loading = loadAuthority(site.config, AT);
  if (loading.kind === 'refused') return loading.mistakes.map(({ message }) => message);
  return loading.notes.filter((note) => note.includes('trusted host'));
}

test('accepts a trusted host without mappings, and notes it', () => {
  const bare = ['[[trustedHost]]', 'name = "Bare"', 'uri = "https://bare.example.org/"', 'signer = "/O=Bare/CN=AA"'];
  expect(hostNotesOf(CONFIG_LINES)).toEqual([]);
  const note = 'the trusted host "Bare" maps no roles: its users get none here';
  expect(hostNotesOf([...CONFIG_LINES, ...bare])).toEqual([note]);
  expect(hostNotesOf([...CONFIG_LINES, ...bare, 'roles = []'])).toEqual([note]);
});

test('notes a CA that can certify no user, whatever the reason', () => {
  const noted = (keys: string[], ca: string): readonly string[] => {
    site.write('old.pem', ca);
    site.write('authority.toml', [...keys, ...CONFIG_LINES].join('\n').replace('["ca.pem"]', '["ca.pem", "old.pem"]'));
    const loading = loadAuthority(site.config, AT);
    if (loading.kind === 'refused') return loading.mistakes.map(({ message }) => message);
    return loading.notes.filter((note) => note.startsWith('the CA '));
  };
  const valid = { notBefore: AT - 100, notAfter: AT + 100 };
  const nobody = 'nobody whom it certified gets in';
  const weak = makeCa('Weak', { ...valid, keys: rsaPair(1024) }).pem;
  expect(noted([], weak)).toEqual([`the CA /O=Test/CN=Weak has a key of a kind that is too weak: ${nobody}`]);
  expect(noted(['allowWeak = true'], weak)).toEqual([]);
  const odd = makeCa('Odd', { ...valid, keys: ecPair('secp256k1') }).pem;
  expect(noted([], odd)).toEqual([`the CA /O=Test/CN=Odd has a key of a kind that is not supported: ${nobody}`]);
  const extensions = [basicConstraints(true), keyUsage(6)];
  expect(noted([], makeCa('Lists', { ...valid, extensions }).pem)).toEqual([
    `the CA /O=Test/CN=Lists is not for certificates by its key usage: ${nobody}`,
  ]);
  expect(noted([], makeCa('Sound', valid).pem)).toEqual([]);
});
