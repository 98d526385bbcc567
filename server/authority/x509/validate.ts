// The verdict about a chain: paths to configured CAs (RFC 5280, section 6), and proxies below end entities (RFC 3820).
// Pure: time is a parameter, and nothing is fetched or read. Used by the authority's decision and by the command line.
import type { Certificate } from './certificate.ts';

/** The configured CAs. Made once per configuration. */
export interface TrustStore {
  readonly anchors: readonly Certificate[];
}

/** The CRLs of a configuration. Made once per load of them. */
export interface CrlStore {
  readonly count: number;
}

/** Which proxies are accepted: RFC 3820 with all rights, RFC 3820 limited, and both kinds of legacy proxies. */
export interface ProxyKinds {
  readonly full: boolean;
  readonly limited: boolean;
  readonly legacy: boolean;
}

/**
 * What a chain is judged by.
 * `at`: seconds since 1970. `crls`: undefined checks no revocation; else a CA without a current CRL refuses all it issued.
 * `maxDepth`: the most intermediate CAs of a path. `profile`: `service` for grid certificates; `strict` adds what RFC 5280
 * asks of CAs when they issue (key identifiers, critical marks).
 */
export interface ChainRules {
  readonly trust: TrustStore;
  readonly at: number;
  readonly proxies: ProxyKinds;
  readonly clockSkewSeconds: number;
  readonly allowWeak: boolean;
  readonly crls: CrlStore | undefined;
  readonly maxDepth: number;
  readonly profile: 'service' | 'strict';
}

/** What a chain proved: whose it is, as what, and until when (seconds since 1970, the earliest end in the whole path). */
export interface Accepted {
  readonly accepted: true;
  /** The end entity's certificate: its subject is the user, never the proxy's. */
  readonly endEntity: Certificate;
  /** The certificate that was presented first: the end entity itself, or the last proxy. */
  readonly presented: Certificate;
  readonly expiresAt: number;
  readonly proxy: 'none' | 'full' | 'limited';
  /** Whether any proxy of the chain is a legacy one. */
  readonly isLegacy: boolean;
  /** From the presented certificate to the configured CA, both included. */
  readonly path: readonly Certificate[];
}

/** Accepted, or why not, in one sentence for people: no file name and no text of keys. */
export type Verdict = Accepted | { readonly accepted: false; readonly reason: string };

/** Judges certificates: the first is the presented one, the others may help to find a path, in any order, needed or not. */
export declare function validateChain(certificates: readonly Certificate[], rules: ChainRules): Verdict;

/** The configured CAs as a store. */
export declare function trustStoreOf(anchors: readonly Certificate[]): TrustStore;
