// Loads the configuration of an authority: the TOML file and every file that it names, checked as a whole. All mistakes
// are found first, and a configuration with one is not used. Notes name what is valid but lets nobody in or is weak.
import { hash, type KeyObject } from 'node:crypto';
import { type Certificate, crlStoreOf, isCa, shownSubject } from '../x509/certificate.ts';
import { expiredNote, expiriesOf, type Expiry, type ExpirySource, expirySourceOf } from './expiries.ts';
import { anchorProblem } from '../x509/pathRules.ts';
import { checkedHosts, type HostDraft, hostDrafts, hostNotes, readMapConfig, type TrustedHost } from './hosts.ts';
import { type AuthorityKeys, keysOf } from './keys.ts';
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
import { addUsersOfFile, addUsersOfTable, UserList } from './users.ts';

/** What was read, when it expires, and the time in seconds since 1970. */
interface ReadConfiguration {
  readonly keys: AuthorityKeys;
  readonly anchors: readonly Certificate[];
  readonly expiries: readonly Expiry[];
  readonly userCount: number;
  readonly hosts: readonly TrustedHost[];
  readonly at: number;
}

/** The notes, a sentence each without its full stop. Cost: a look at every CA. */
function notesOf({ keys, anchors, expiries, userCount, hosts, at }: ReadConfiguration): readonly string[] {
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
  const name = shownSubject(anchor);
  const digest = hash('sha256', anchor.der);
  if (earlier.has(digest)) return [`the CA ${name} is there twice`];
  earlier.add(digest);
  if (!isCa(anchor)) return [`the certificate of ${name} is among the CAs and is of none: it certifies nobody`];
  if (anchor.notAfter < rules.at) return [expiredNote(anchor)];
  const problem = anchor.notBefore > rules.at ? 'is not valid yet' : anchorProblem(anchor, rules);
  return problem === undefined ? [] : [`the CA ${name} ${problem}: nobody whom it certified gets in`];
}

/** The keys of the file that decide what is issued and believed, which threads get as they are. */
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
 * A checked configuration as plain data that can be sent to a thread: DER of certificates and CRLs, the key as an
 * object that never leaves the process. `crls` is undefined if revocation is not checked, `namespaces` if every CA may
 * speak for any name.
 */
export interface AuthorityData extends IssuingKeys {
  readonly siteName: string;
  readonly key: KeyObject;
  readonly certificate: Uint8Array;
  /** Until when it and what it rests on is valid, in seconds since 1970, and whether a CRL lists any of that. */
  readonly issuerNotAfter: number;
  readonly isIssuerRevoked: boolean;
  readonly anchors: readonly Uint8Array[];
  readonly crls: readonly Uint8Array[] | undefined;
  /** The roles of each user, by the key of the name. */
  readonly users: ReadonlyMap<string, readonly string[]>;
  readonly hosts: readonly TrustedHost[];
  readonly namespaces: Namespaces | undefined;
}

/** `crlStamp` is the state of `crlDirectory` (directoryStamp) before it was read, '' without one. */
export interface LoadedAuthority {
  readonly kind: 'loaded';
  readonly data: AuthorityData;
  readonly notes: readonly string[];
  /** Files of CAs and CRLs that cannot be read and are not used: the notes name them. */
  readonly unusableFiles: number;
  readonly expirySource: ExpirySource;
  readonly crlDirectory: string | undefined;
  readonly crlStamp: string;
}

export type AuthorityLoading = LoadedAuthority | { readonly kind: 'refused'; readonly mistakes: readonly Mistake[] };

/**
 * Loads a configuration file. `at` is the time, in seconds since 1970, at which certificates must be valid. A file that
 * cannot be read hides the mistakes in it. Throws OperationError `file` if the process has no descriptor or memory
 * left. Cost: half a second for 100,000 users, some seconds for any file (A107).
 */
export function loadAuthority(file: string, at: number): AuthorityLoading {
  const mistakes = noMistakes();
  const source = sourceIn(file, mistakes);
  if (!source) return { kind: 'refused', mistakes: mistakes.all };
  const { table, placeOf } = source;
  const keys = keysOf(file, source);
  judgeWindow(source, keys);
  const drafts = draftsOf(source, keys);
  const spaces = readNamespaces(table['namespaces'], source);
  const namespaces = spaces?.patterns;
  const hosts = checkedHosts(drafts, { siteName: keys.name, namespaces, mistakes });
  const users = usersOf(source, keys, namespaces);
  const unusable = noMistakes();
  const anchors = readAnchors(keys.ca, (i) => placeOf(['ca', i]), mistakes, unusable);
  const identity = readIdentity(keys, { at, namespaces, anchors, placeOf: (key) => placeOf([key]), mistakes });
  // Before the files are read: one that is written meanwhile is another state.
  const crlStamp = keys.crls === undefined ? '' : directoryStamp(keys.crls);
  const crlFiles = keys.crls === undefined ? undefined : readCrlFiles(keys.crls, placeOf(['crls']), mistakes, unusable);
  if (!identity || anchors.length === 0 || mistakes.all.length > 0) return refusedWith(mistakes, unusable);
  const crls = crlFiles?.flatMap((read) => read.crls);
  const revoked = crls && identity.revoked(crlStoreOf(crls));
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
  const expirySource = expirySourceOf({ ...keys, ...identity, anchors, crls });
  const expiries = expiriesOf(expirySource, at);
  const notes = [
    ...unusable.all.map((one) => `not used: ${mistakeText(one)}`),
    ...identity.notes,
    ...(revoked ? [`the certificate of ${shownSubject(revoked)} has been revoked: nothing is granted`] : []),
    ...hostNotes(drafts),
    ...namespaceNotes(spaces, anchors),
    ...notesOf({
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

/** As loadAuthority, but throws OperationError `network` if a path does not answer: that would block this thread. */
export async function loadAnswering(file: string, at: number): Promise<AuthorityLoading> {
  await assertAnswers(file);
  const source = sourceIn(file, noMistakes());
  if (source) {
    const { key, certificate, ca, usersFile = [], mapConfig = [], crls = [] } = keysOf(file, source);
    for (const path of [key, certificate, ca, usersFile, mapConfig, crls].flat()) await assertAnswers(path);
  }
  return loadAuthority(file, at);
}

function sourceIn(file: string, mistakes: Mistakes): Source | undefined {
  const text = readText(file, FILE_BYTES_MAX.configuration, { file }, mistakes);
  const reading = text === undefined ? undefined : readToml(file, text);
  if (reading?.kind === 'refused') mistakes.add(reading.place, reading.reason);
  return reading?.kind === 'read' ? { ...reading, mistakes } : undefined;
}

/** The files that are not used are often the reason of the mistakes. */
function refusedWith(mistakes: Mistakes, unusable: Mistakes): AuthorityLoading {
  for (const one of unusable.all) mistakes.add(one, one.message);
  return { kind: 'refused', mistakes: mistakes.all };
}

/** Loads a configuration file. Throws OperationError `input` with every mistake, a line each. */
export function loadedOrThrown(file: string, at: number): LoadedAuthority {
  const loading = loadAuthority(file, at);
  if (loading.kind === 'loaded') return loading;
  throw new OperationError('input', loading.mistakes.map(mistakeText).join('\n'));
}

interface Source extends TomlDocument {
  readonly mistakes: Mistakes;
}

function judgeWindow({ placeOf, mistakes }: Source, { notBeforeOffsetSeconds, lifetimeSeconds }: AuthorityKeys): void {
  if (notBeforeOffsetSeconds + lifetimeSeconds > 0) return;
  const what = 'notBeforeOffsetSeconds has every attribute certificate end before it is issued';
  mistakes.add(placeOf(['notBeforeOffsetSeconds']), `${what}: lifetimeSeconds is ${lifetimeSeconds}`);
}

/** Those of the older file first. */
function draftsOf(source: Source, keys: AuthorityKeys): readonly HostDraft[] {
  const { mistakes, placeOf, table } = source;
  const older =
    keys.mapConfig === undefined ? undefined : readMapConfig(keys.mapConfig, placeOf(['mapConfig']), mistakes);
  if (older?.siteName && older.siteName.name !== keys.name) {
    const { name, place } = older.siteName;
    mistakes.add(place, `thisHost is ${JSON.stringify(name)}, but this site is ${JSON.stringify(keys.name)}`);
  }
  return [...(older?.hosts ?? []), ...hostDrafts(table['trustedHost'], source)];
}

function usersOf(source: Source, { usersFile }: AuthorityKeys, namespaces: Namespaces | undefined): UserList {
  const { mistakes, placeOf, table } = source;
  const list = new UserList(mistakes, namespaces);
  if (usersFile !== undefined) addUsersOfFile(usersFile, placeOf(['usersFile']), list, mistakes);
  addUsersOfTable(table['users'], { placeOf, list, mistakes });
  return list;
}
