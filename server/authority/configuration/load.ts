// Loads the configuration of an authority: the TOML file and every file that it names. Collects all errors, and rejects
// a configuration with any. Notes describe valid parts that grant access to no one or are weak.
import { hash, type KeyObject } from 'node:crypto';
import { type Certificate, makeCrlStore, isCa, printSubject } from '../x509/certificate.ts';
import { expiredNote, listExpiries, type Expiry, type ExpirySource, makeExpirySource } from './expiries.ts';
import { anchorProblem } from '../x509/pathRules.ts';
import { checkHosts, type HostDraft, hostDrafts, hostNotes, readMapConfig, type TrustedHost } from './hosts.ts';
import { type AuthorityKeys, readKeys } from './keys.ts';
import { OperationError } from '../../../data/operationError.ts';
import { assertAnswers } from '../../../data/timeLimit.ts';
import { readToml, type TomlDocument } from '../../settings/toml.ts';
import type { Namespaces } from '../x509/nameConstraints.ts';
import {
  directoryStamp,
  FILE_BYTES_MAX,
  type Mistake,
  type Mistakes,
  mistakeText,
  noMistakes,
  readText,
} from './files.ts';
import { namespaceNotes, readAnchors, readCrlFiles, readIdentity, readNamespaces } from './identity.ts';
import { addUsersFromFile, addUsersFromTable, UserList } from './users.ts';

interface ReadConfiguration {
  readonly keys: AuthorityKeys;
  readonly anchors: readonly Certificate[];
  readonly expiries: readonly Expiry[];
  readonly userCount: number;
  readonly hosts: readonly TrustedHost[];
  /** Seconds since 1970. */
  readonly at: number;
}

/** The notes: sentences without their full stop. Cost: one check per CA. */
function makeNotes({ keys, anchors, expiries, userCount, hosts, at }: ReadConfiguration): readonly string[] {
  const earlier = new Set<string>();
  const notes = anchors.flatMap((anchor) => anchorNotes(anchor, earlier, { ...keys, at }));
  if (keys.crls === undefined) notes.push('revocation is not checked: the configuration names no crls');
  notes.push(...expiries.filter(({ what, at: end }) => what === 'crls' && end === 0).map(({ note }) => note));
  if (userCount === 0 && hosts.every(({ mappings }) => mappings.length === 0)) {
    notes.push('nobody can get in: there are no users here, and no role of a trusted host is mapped');
  }
  if (keys.allowWeak) notes.push('weak signatures and keys are accepted: allowWeak is set');
  if (keys.externalSignatures.includes('rsa-sha1')) notes.push("other sites' signatures with SHA-1 are accepted");
  return notes;
}

function anchorNotes(
  anchor: Certificate,
  earlier: Set<string>,
  rules: Parameters<typeof anchorProblem>[1],
): readonly string[] {
  const name = printSubject(anchor);
  const digest = hash('sha256', anchor.der);
  if (earlier.has(digest)) return [`the CA ${name} is there twice`];
  earlier.add(digest);
  if (!isCa(anchor)) return [`the certificate of ${name} is among the CAs and is of none: it certifies nobody`];
  if (anchor.notAfter < rules.at) return [expiredNote(anchor)];
  const problem = anchor.notBefore > rules.at ? 'is not valid yet' : anchorProblem(anchor, rules);
  return problem === undefined ? [] : [`the CA ${name} ${problem}: nobody whom it certified gets in`];
}

/** Keys of the file that control issuing and trust. Threads get them unchanged. */
const ISSUING_KEYS = [
  'lifetimeSeconds',
  'notBeforeOffsetSeconds',
  'clockSkewSeconds',
  'legacyProxies',
  'allowWeak',
  'externalSignatures',
] as const;
type IssuingKeys = Pick<AuthorityKeys, (typeof ISSUING_KEYS)[number]>;

/**
 * A validated configuration as plain data for a thread: certificates and CRLs in DER, and the key as an object that
 * never leaves the process.
 */
export interface AuthorityData extends IssuingKeys {
  readonly siteName: string;
  readonly key: KeyObject;
  readonly certificate: Uint8Array;
  /** End of validity of the certificate and its path, in seconds since 1970. */
  readonly issuerNotAfter: number;
  /** Whether a CRL lists the certificate or one on its path. */
  readonly isIssuerRevoked: boolean;
  readonly anchors: readonly Uint8Array[];
  /** Undefined if revocation is not checked. */
  readonly crls: readonly Uint8Array[] | undefined;
  /** The roles of each user, by the key of the name. */
  readonly users: ReadonlyMap<string, readonly string[]>;
  readonly hosts: readonly TrustedHost[];
  /** Undefined if every CA may certify any name. */
  readonly namespaces: Namespaces | undefined;
}

export interface LoadedAuthority {
  readonly kind: 'loaded';
  readonly data: AuthorityData;
  readonly notes: readonly string[];
  /** CA and CRL files that cannot be read and are ignored. The notes name them. */
  readonly unusableFiles: number;
  readonly expirySource: ExpirySource;
  readonly crlDirectory: string | undefined;
  /** The state of `crlDirectory` (directoryStamp) before it was read; '' without one. */
  readonly crlStamp: string;
}

export type AuthorityLoading = LoadedAuthority | { readonly kind: 'refused'; readonly mistakes: readonly Mistake[] };

/**
 * Loads a configuration file. Certificates must be valid at `at`, in seconds since 1970. Errors within an unreadable
 * file remain unreported. Throws OperationError `file` if the process has no descriptor or memory left. Cost: half a
 * second for 100,000 users, some seconds for the largest files (A107).
 */
export function loadAuthority(file: string, at: number): AuthorityLoading {
  const mistakes = noMistakes();
  const source = readSource(file, mistakes);
  if (!source) return { kind: 'refused', mistakes: mistakes.all };
  const { table, placeOf } = source;
  const keys = readKeys(file, source);
  checkWindow(source, keys);
  const drafts = readDrafts(source, keys);
  const spaces = readNamespaces(table['namespaces'], source);
  const namespaces = spaces?.patterns;
  const hosts = checkHosts(drafts, { siteName: keys.name, namespaces, mistakes });
  const users = readUsers(source, keys, namespaces);
  const unusable = noMistakes();
  const anchors = readAnchors(keys.ca, (i) => placeOf(['ca', i]), mistakes, unusable);
  const identity = readIdentity(keys, { at, namespaces, anchors, placeOf: (key) => placeOf([key]), mistakes });
  // The stamp is taken before the files are read, so that a file written meanwhile counts as a change.
  const crlStamp = keys.crls === undefined ? '' : directoryStamp(keys.crls);
  const crlFiles = keys.crls === undefined ? undefined : readCrlFiles(keys.crls, placeOf(['crls']), mistakes, unusable);
  if (!identity || anchors.length === 0 || mistakes.all.length > 0) return makeRefusal(mistakes, unusable);
  const crls = crlFiles?.flatMap((file) => file.crls);
  const revoked = crls && identity.revoked(makeCrlStore(crls));
  const data: AuthorityData = {
    ...(Object.fromEntries(ISSUING_KEYS.map((key) => [key, keys[key]])) as unknown as IssuingKeys),
    siteName: keys.name,
    key: identity.key,
    certificate: identity.certificate.der,
    issuerNotAfter: identity.notAfter,
    isIssuerRevoked: revoked !== undefined,
    anchors: anchors.map(({ der }) => der),
    crls: crlFiles?.map(({ bytes }) => bytes),
    users: new Map(users.users.map(({ key, roles }) => [key, roles])),
    hosts,
    namespaces,
  };
  const expirySource = makeExpirySource({ ...keys, ...identity, anchors, crls });
  const expiries = listExpiries(expirySource, at);
  const notes = [
    ...unusable.all.map((mistake) => `not used: ${mistakeText(mistake)}`),
    ...identity.notes,
    ...(revoked ? [`the certificate of ${printSubject(revoked)} has been revoked: nothing is granted`] : []),
    ...hostNotes(drafts),
    ...namespaceNotes(spaces, anchors),
    ...makeNotes({
      keys,
      anchors,
      expiries,
      userCount: users.users.length,
      hosts,
      at,
    }),
  ];
  const unusableFiles = unusable.all.length;
  return { kind: 'loaded', data, notes, unusableFiles, expirySource, crlDirectory: keys.crls, crlStamp };
}

/**
 * Like loadAuthority, but throws OperationError `network` if a path does not respond. Reading such a path would block
 * this thread.
 */
export async function tryLoadAuthority(file: string, at: number): Promise<AuthorityLoading> {
  await assertAnswers(file);
  const source = readSource(file, noMistakes());
  if (source) {
    const { key, certificate, ca, usersFile = [], mapConfig = [], crls = [] } = readKeys(file, source);
    for (const path of [key, certificate, ca, usersFile, mapConfig, crls].flat()) await assertAnswers(path);
  }
  return loadAuthority(file, at);
}

function readSource(file: string, mistakes: Mistakes): Source | undefined {
  const text = readText(file, FILE_BYTES_MAX.configuration, { file }, mistakes);
  const reading = text === undefined ? undefined : readToml(file, text);
  if (reading?.kind === 'refused') mistakes.add(reading.place, reading.reason);
  return reading?.kind === 'read' ? { ...reading, mistakes } : undefined;
}

/** Also reports the unusable files, which often cause the errors. */
function makeRefusal(mistakes: Mistakes, unusable: Mistakes): AuthorityLoading {
  for (const mistake of unusable.all) mistakes.add(mistake, mistake.message);
  return { kind: 'refused', mistakes: mistakes.all };
}

/** Loads a configuration file. Throws OperationError `input` with all errors, one per line. */
export function loadOrThrow(file: string, at: number): LoadedAuthority {
  const loading = loadAuthority(file, at);
  if (loading.kind === 'loaded') return loading;
  throw new OperationError('input', loading.mistakes.map(mistakeText).join('\n'));
}

interface Source extends TomlDocument {
  readonly mistakes: Mistakes;
}

function checkWindow({ placeOf, mistakes }: Source, { notBeforeOffsetSeconds, lifetimeSeconds }: AuthorityKeys): void {
  if (notBeforeOffsetSeconds + lifetimeSeconds > 0) return;
  const reason = 'notBeforeOffsetSeconds has every attribute certificate end before it is issued';
  mistakes.add(placeOf(['notBeforeOffsetSeconds']), `${reason}: lifetimeSeconds is ${lifetimeSeconds}`);
}

/** The hosts of the older file come first. */
function readDrafts(source: Source, keys: AuthorityKeys): readonly HostDraft[] {
  const { mistakes, placeOf, table } = source;
  const older =
    keys.mapConfig === undefined ? undefined : readMapConfig(keys.mapConfig, placeOf(['mapConfig']), mistakes);
  if (older?.siteName && older.siteName.name !== keys.name) {
    const { name, place } = older.siteName;
    mistakes.add(place, `thisHost is ${JSON.stringify(name)}, but this site is ${JSON.stringify(keys.name)}`);
  }
  return [...(older?.hosts ?? []), ...hostDrafts(table['trustedHost'], source)];
}

function readUsers(source: Source, { usersFile }: AuthorityKeys, namespaces: Namespaces | undefined): UserList {
  const { mistakes, placeOf, table } = source;
  const list = new UserList(mistakes, namespaces);
  if (usersFile !== undefined) addUsersFromFile(usersFile, placeOf(['usersFile']), list, mistakes);
  addUsersFromTable(table['users'], { placeOf, list, mistakes });
  return list;
}
