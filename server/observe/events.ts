// The events of the service, as one closed union of plain objects. Log and metrics observe them. No event contains the
// text of a key, certificate or request.

export type AuthorisationStatus = 'AccessGranted' | 'AccessDenied' | 'AccessError';

/**
 * The reasons of refusals, with the resulting status. `userChain`: the user's certificates. `userName`: a subject whose
 * text is ambiguous. `externalForm`: XML or structure. `externalSigner`: its chain. `externalIssuer`: the issuer field.
 * `externalHost`: in the name of a trusted host, but signed by another. `window`: no validity is left, or the
 * authority's certificate has expired. `unrecorded`: the audit log cannot be written.
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
 * An authorisation request, for the audit log (A88). The fields from `roles` to `issuedDigest` describe the issued
 * certificate.
 */
export interface AuthorisationRecord {
  readonly kind: 'authorisation';
  readonly at: number;
  readonly status: AuthorisationStatus;
  /** The code of a refusal; '' if granted. */
  readonly reason: RefusalCode | '';
  /** The sentence that the client received; '' if granted. */
  readonly sentence: string;
  /** The id of the request in the access log; '' without one. */
  readonly requestId: string;
  /** The address of the connection. */
  readonly peer: string;
  /** The name of the user; '' unless a chain proved it. */
  readonly holder: string;
  /** The unproven subject of the presented certificate, if `holder` is ''. */
  readonly claimed: string;
  /** How the user was presented. */
  readonly proxy: 'none' | 'full' | 'limited' | '';
  /**
   * The issuer named in the user's attribute certificate, unproven unless access was granted; '' if none was checked.
   */
  readonly site: string;
  readonly roles: readonly string[];
  readonly provenance: 'original' | 'mapped' | '';
  readonly serialNumber: string;
  /** Seconds since 1970. */
  readonly notAfter: number;
  /** SHA-256 in hexadecimal. */
  readonly issuedDigest: string;
  /** SHA-256, in hexadecimal, of the text that should prove the user. */
  readonly chainDigest: string;
}

/** Refusals with the same reason, peer and holder since their last line. All three are empty for further kinds. */
export interface RefusalsRepeated extends Pick<AuthorisationRecord, 'at' | 'reason' | 'peer' | 'holder'> {
  readonly kind: 'refusalsRepeated';
  readonly repeated: number;
}

/** Threads that may die while the process continues. The death of a serving thread ends the process. */
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
  /** A configuration was refused; the previous one stays. */
  | { readonly kind: 'authorityReloadRefused'; readonly at: number; readonly mistakes: readonly string[] }
  /** A part of the configuration has expired; `note` names the part and the effect. */
  | { readonly kind: 'authorityExpired'; readonly at: number; readonly note: string }
  | { readonly kind: 'authorityBug'; readonly at: number; readonly stack: string }
  | { readonly kind: 'threadDied'; readonly at: number; readonly thread: ThreadKind; readonly stack: string }
  /** A thread could not start, for lack of descriptors, threads or memory. It is tried again. */
  | { readonly kind: 'threadStarved'; readonly at: number; readonly thread: ThreadKind; readonly reason: string };

/** Receives events in order, one or more at a time. Must not throw and should be fast. */
export type Observer = (events: readonly ServiceEvent[]) => void;

/** Normal, a broken promise, or an error that an operator must look at. */
export type Level = 'info' | 'warn' | 'error';

/** The steps in the life of data, from the crawl of a catalogue to the release of its memory. */
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

/** The ways to compare a collection with the followed catalogue. */
export const COMPARISON_KINDS = ['dates', 'validators', 'full'] as const;

/** How the last refresh compared each collection, and when all its records were last read (ISO 8601). */
export type Comparisons = Readonly<
  Record<string, { readonly compared: (typeof COMPARISON_KINDS)[number]; readonly lastFullRead: string }>
>;

/** A completed step with its figures: `bytes`, `seconds`, `generation`, `reason`, and named counts. */
export interface DataEvent {
  readonly event: DataStep;
  readonly generation?: string | undefined;
  readonly collections?: Comparisons;
  readonly [figure: string]: string | number | boolean | undefined | Comparisons;
}

/** Logs one or more lines and the step that they are about. The default level is `info`. */
export type Report = (text: string, level?: Level, step?: DataEvent) => void;
