// One X.509 certificate (RFC 5280, section 4.1): read once from DER into plain values.
// Judges nothing about trust; validate.ts does. Used by the whole module.
import type { KeyObject } from 'node:crypto';
import type { Name } from './name.ts';

/** A certificate as read. Times are seconds since 1970, both included in the validity. */
export interface Certificate {
  readonly der: Uint8Array;
  readonly version: 1 | 2 | 3;
  readonly serialNumber: bigint;
  readonly issuer: Name;
  readonly subject: Name;
  readonly notBefore: number;
  readonly notAfter: number;
  /** Made on first use; undefined where the runtime cannot read the key. */
  readonly publicKey: KeyObject | undefined;
}
