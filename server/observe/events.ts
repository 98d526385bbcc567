// What the service tells about itself while it runs, as one closed union of plain events. Log and metrics are observers
// of it. No event holds the text of a key, of a certificate, or of a request.

export type AuthorisationStatus = 'AccessGranted' | 'AccessDenied' | 'AccessError';

/**
 * Why nothing was granted, and how the request ended. `userChain`: the user's certificates; `userName`: a subject that
 * cannot be told by its text; `externalForm`: XML or structure; `externalSigner`: its chain; `externalIssuer`: the
 * issuer field; `externalHost`: signed for a trusted host by somebody else; `window`: nothing is left of the validity,
 * or of that of the authority's own certificate; `unrecorded`: the audit log cannot be written.
 */
export const REFUSALS = {
  unregistered: 'AccessDenied',
  untrustedHost: 'AccessDenied',
  unmapped: 'AccessDenied',
  userChain: 'AccessError',
  userName: 'AccessError',
  externalForm: 'AccessError',
  externalProvenance: 'AccessError',
  externalSignature: 'AccessError',
  externalSigner: 'AccessError',
  externalIssuer: 'AccessError',
  externalTime: 'AccessError',
  externalHolder: 'AccessError',
  externalHost: 'AccessError',
  window: 'AccessError',
  unrecorded: 'AccessError',
} as const satisfies Readonly<Record<string, AuthorisationStatus>>;

export type RefusalCode = keyof typeof REFUSALS;

/**
 * A request to be authorised, for the audit (A88). `reason` is the code of a refusal and `sentence` the one that the
 * client got, both '' if granted. `requestId` is the id of the request in the access log, '' without one. `peer` is the
 * address of the connection. `holder` is the user's name, '' until a chain proved one; `claimed` then the
 * subject of the certificate that was presented, believed by nobody. `proxy` is how it was presented. `site` is who
 * issued the attribute certificate that was looked at, by its own word until something was granted; '' where none was.
 * `roles`, `serialNumber`, `provenance` and `notAfter` (seconds since 1970) are those of the certificate issued;
 * `issuedDigest` is its SHA-256, `chainDigest` that of what the user sent to prove who it is, both in hexadecimal.
 */
export interface AuthorisationRecord {
  readonly kind: 'authorisation';
  readonly at: number;
  readonly status: AuthorisationStatus;
  readonly reason: RefusalCode | '';
  readonly sentence: string;
  readonly requestId: string;
  readonly peer: string;
  readonly holder: string;
  readonly claimed: string;
  readonly proxy: 'none' | 'full' | 'limited' | '';
  readonly site: string;
  readonly roles: readonly string[];
  readonly provenance: 'original' | 'mapped' | '';
  readonly serialNumber: string;
  readonly notAfter: number;
  readonly issuedDigest: string;
  readonly chainDigest: string;
}

/** Refusals of a reason, peer and holder since the last line about them. All three are empty for further kinds. */
export interface RefusalsRepeated extends Pick<AuthorisationRecord, 'at' | 'reason' | 'peer' | 'holder'> {
  readonly kind: 'refusalsRepeated';
  readonly repeated: number;
}

/** Threads that may die while the process serves. A serving thread that dies ends it. */
export const THREAD_KINDS = ['pool', 'authority'] as const;

export type ThreadKind = (typeof THREAD_KINDS)[number];

/** `at` is in seconds since 1970. */
export type ServiceEvent =
  | AuthorisationRecord
  | RefusalsRepeated
  | {
      readonly kind: 'authorityLoaded';
      readonly at: number;
      readonly siteName: string;
      readonly users: number;
      readonly hosts: number;
      readonly unusableFiles: number;
      readonly notes: readonly string[];
    }
  /** A configuration was refused, and the one before it stays. */
  | { readonly kind: 'authorityReloadRefused'; readonly at: number; readonly mistakes: readonly string[] }
  /** Something that the configuration rests on has expired; `note` says what, and the effect. */
  | { readonly kind: 'authorityExpired'; readonly at: number; readonly note: string }
  | { readonly kind: 'authorityBug'; readonly at: number; readonly stack: string }
  | { readonly kind: 'threadDied'; readonly at: number; readonly thread: ThreadKind; readonly stack: string }
  /** A thread could not start: descriptors, threads or memory ran out. It is tried again. */
  | { readonly kind: 'threadStarved'; readonly at: number; readonly thread: ThreadKind; readonly reason: string };

/** Takes events, one or more at a time, in the order in which they come. It must not throw and should be quick. */
export type Observer = (events: readonly ServiceEvent[]) => void;

/** How grave something is: as it should be, a promise that is not kept, a fault that somebody has to look at. */
export type Level = 'info' | 'warn' | 'error';

/** The steps of the life of data, from another catalogue to the memory that it leaves. */
export const DATA_STEPS = [
  'crawlStarted',
  'pageRetried',
  'crawled',
  'resumed',
  'importedWhole',
  'built',
  'compressed',
  'placed',
  'refreshed',
  'published',
  'pruned',
  'fetched',
  'verified',
  'swapped',
  'unchanged',
  'refused',
  'freed',
] as const;

export type DataStep = (typeof DATA_STEPS)[number];

/** The ways in which a collection is compared with the catalogue that is followed. */
export const COMPARISON_KINDS = ['dates', 'validators', 'full'] as const;

/** How the last refresh compared each collection, and when every record of it was last read (ISO 8601). */
export type Comparisons = Readonly<
  Record<string, { readonly compared: (typeof COMPARISON_KINDS)[number]; readonly lastFullRead: string }>
>;

/** A step that was done, with its figures: `bytes`, `seconds`, `generation`, `reason`, and counts by what counts. */
export interface DataEvent {
  readonly event: DataStep;
  readonly generation?: string | undefined;
  readonly collections?: Comparisons;
  readonly [figure: string]: string | number | boolean | undefined | Comparisons;
}

/** Takes what is to be said, in one line or several, and the step that it is about. `info` where no level is told. */
export type Report = (text: string, level?: Level, step?: DataEvent) => void;
