// The keys of the authority's configuration, declared once: checks, defaults, the type and the table in the README
// derive from KEYS. To add a key, add a row to KEYS and the line in server/authority/README.md that the test then
// requires.
import { dirname, resolve } from 'node:path';
import { closestName } from '../../../engine/shared.ts';
import type { TomlDocument } from '../../settings/toml.ts';
import { integerBetween, oneOf, PATH, SWITCH, type ValueKind } from '../../settings/values.ts';
import type { SignatureAlgorithm } from '../attributeCertificate/content.ts';
import { holdsPrivateKey } from '../x509/pem.ts';
import type { Mistakes } from './files.ts';
import { siteNameProblem } from './users.ts';

export interface KeyRow<V> {
  readonly kind: ValueKind<unknown>;
  readonly arity: 'one' | 'many';
  readonly isRequired: boolean;
  readonly initial: V | undefined;
  /** The default in words. */
  readonly initialText: string;
  readonly help: string;
}

/** A day in either direction. Larger values are typing errors. */
const OFFSET_SECONDS_MAX = 86_400;
const OFFSET: ValueKind<number> = {
  placeholder: '<seconds>',
  wanted: `an integer from -${OFFSET_SECONDS_MAX} to ${OFFSET_SECONDS_MAX}`,
  toml: 'number',
  parse: (text) =>
    /^-?\d{1,5}$/.test(text) && Math.abs(Number(text)) <= OFFSET_SECONDS_MAX ? Number(text) : undefined,
};
const SITE_NAME: ValueKind<string> = {
  placeholder: '<name>',
  wanted: 'a name without colons, control characters, or blanks at its ends',
  toml: 'string',
  parse: (text) => (siteNameProblem(text) === undefined ? text : undefined),
};
/** At most a year: an attribute certificate must not outlive its reasons. */
const LIFETIME = integerBetween(1, 31_622_400);
const SKEW = integerBetween(0, 3600);

function requiredKey<V>(kind: ValueKind<unknown>, arity: 'one' | 'many', help: string): KeyRow<V> {
  return { kind, arity, isRequired: true, initial: undefined, initialText: 'required', help };
}

function optionalKey<V>(kind: ValueKind<unknown>, initial: V, initialText: string, help: string): KeyRow<V> {
  return { kind, arity: Array.isArray(initial) ? 'many' : 'one', isRequired: false, initial, initialText, help };
}

/** Paths are absolute or relative to the configuration file. Undefined means that a key is not given. */
export const KEYS = {
  name: requiredKey<string>(SITE_NAME, 'one', 'name of this site: the issuerName of its attribute certificates'),
  key: requiredKey<string>(PATH, 'one', 'PEM file of the private key, RSA of 2,048 bits or more, or EC P-256'),
  certificate: requiredKey<string>(
    PATH,
    'one',
    'PEM file of its certificate (may be the same file); its subject is the issuer',
  ),
  ca: requiredKey<readonly string[]>(PATH, 'many', 'PEM files of the trusted CAs of users and authorities'),
  usersFile: optionalKey<string | undefined>(
    PATH,
    undefined,
    'none',
    'file of users, a line each: `"/O=Site/CN=Name" role, role`',
  ),
  mapConfig: optionalKey<string | undefined>(
    PATH,
    undefined,
    'none',
    '`mapConfig.xml` of the older format; its trusted hosts come first',
  ),
  crls: optionalKey<string | undefined>(PATH, undefined, 'not checked', 'directory of CRLs, PEM or DER'),
  lifetimeSeconds: optionalKey(LIFETIME, 28_800, '28800', 'maximum validity of an attribute certificate'),
  notBeforeOffsetSeconds: optionalKey(
    OFFSET,
    0,
    '0',
    'offset of its start from now; negative if other sites have slow clocks',
  ),
  clockSkewSeconds: optionalKey(
    SKEW,
    0,
    '0',
    'tolerance for clocks: certificates and CRLs are valid earlier; CRLs and the certificates of authorities also longer',
  ),
  legacyProxies: optionalKey(
    SWITCH,
    true,
    'true',
    'accept proxies older than RFC 3820 (`CN=proxy`, `CN=limited proxy`)',
  ),
  allowWeak: optionalKey(
    SWITCH,
    false,
    'false',
    'accept SHA-1, MD5, DSA, RSA below 2,048 bits and curves below 256 bits in chains and CRLs, and short RSA keys of signers',
  ),
  externalSignatures: optionalKey<readonly SignatureAlgorithm[]>(
    oneOf('rsa-sha256', 'ecdsa-sha256', 'rsa-sha1'),
    ['rsa-sha256'],
    'rsa-sha256',
    'algorithms accepted in attribute certificates of other sites',
  ),
};

export type AuthorityKeys = {
  readonly [K in keyof typeof KEYS]: (typeof KEYS)[K] extends KeyRow<infer V> ? V : never;
};

const TABLES = ['users', 'namespaces', 'trustedHost'] as const;

/** The keys of a parsed file. An unknown or invalid key adds an error and gets its default or ''. */
export function readKeys(
  file: string,
  { table, placeOf, mistakes }: TomlDocument & { readonly mistakes: Mistakes },
): AuthorityKeys {
  const names = [...Object.keys(KEYS), ...TABLES];
  for (const key of Object.keys(table)) {
    if (names.includes(key)) continue;
    mistakes.add(placeOf([key]), `unknown key ${JSON.stringify(key)}; the nearest known is ${closestName(key, names)}`);
  }
  const values = Object.entries(KEYS).map(([key, row]: [string, KeyRow<unknown>]) => {
    if (table[key] !== undefined) return [key, readValue(key, row, table[key])];
    if (row.isRequired) mistakes.add({ file }, `the key ${key} is missing: ${row.help}`);
    return [key, row.initial ?? (row.arity === 'many' ? [] : row.isRequired ? '' : undefined)];
  });
  // Each row of KEYS makes the value of its key, which the mapped type cannot express.
  return Object.fromEntries(values) as AuthorityKeys;

  function readValue(key: string, row: KeyRow<unknown>, value: unknown): unknown {
    const isMany = row.arity === 'many' && Array.isArray(value);
    const members: readonly unknown[] = isMany ? value : [value];
    const parsed = members.map((member, i) => {
      const text = JSON.stringify(member);
      const isSecret = holdsPrivateKey(text);
      const parsedValue = !isSecret && typeof member === row.kind.toml ? row.kind.parse(String(member)) : undefined;
      if (parsedValue !== undefined) {
        return row.kind === PATH ? resolve(dirname(file), parsedValue as string) : parsedValue;
      }
      // Errors go to logs and to /status, so they must not contain a key.
      const received = isSecret ? 'a private key itself' : text;
      mistakes.add(placeOf(isMany ? [key, i] : [key]), `${key}: got ${received}, want ${row.kind.wanted}`);
      return row.isRequired ? '' : row.initial;
    });
    if (row.arity === 'one') return parsed[0];
    if (members.length === 0) mistakes.add(placeOf([key]), `${key}: got nothing, want ${row.kind.wanted}`);
    return parsed;
  }
}
