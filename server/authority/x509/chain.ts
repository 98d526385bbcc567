// Certificate texts: PEM into certificates, within limits. A text is refused as a whole where any part of it is wrong.
// Used by the authority for what users send and operators configure, and by the command line.
import type { Certificate } from './certificate.ts';

/** How much a text may hold. */
export interface ChainLimits {
  readonly textBytes: number;
  readonly certificates: number;
}

/** What a user may send: 256 KiB and 8 certificates. */
export declare const USER_CHAIN_LIMITS: ChainLimits;

/** The certificates of a text in its order, at least one; or why there are none, as one sentence without any text of the input. */
export type ChainReading =
  | { readonly kind: 'read'; readonly certificates: readonly Certificate[] }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** Reads a PEM text. Refused: too long, too many, no CERTIFICATE block, a PRIVATE KEY block, anything that is no certificate. */
export declare function readChain(text: string, limits?: ChainLimits): ChainReading;
