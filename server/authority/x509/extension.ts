// One extension of a certificate, CRL or CRL entry (RFC 5280, section 4.2): its identifier, its mark, its bytes.
// Reads lists of them, none twice. What is in them is read by extensions.ts and crl.ts.
import { DerError, DerReader, TAG } from './der.ts';

/** An extension as it stands: `value` is the DER inside its octet string. */
export interface Extension {
  readonly oid: string;
  readonly isCritical: boolean;
  readonly value: Uint8Array;
}

/** A list of extensions by identifier; at least one, each once. */
export function readExtensionList(reader: DerReader): ReadonlyMap<string, Extension> {
  const byOid = new Map<string, Extension>();
  const list = reader.inside(TAG.sequence);
  for (const extension of list.each(readExtension)) {
    if (byOid.has(extension.oid)) throw new DerError('an extension twice');
    byOid.set(extension.oid, extension);
  }
  if (byOid.size === 0) throw new DerError('an empty list of extensions');
  return byOid;
}

function readExtension(reader: DerReader): Extension {
  const parts = reader.inside(TAG.sequence);
  const oid = parts.oid();
  // An explicit FALSE, which DER leaves out as the default, is common in old certificates.
  const isCritical = parts.nextTag === TAG.boolean && parts.boolean();
  const value = parts.octets();
  parts.finish();
  return { oid, isCritical, value };
}

/** What `read` makes of an extension's whole value; undefined where there is no such extension. */
export function valueOf<T>(extension: Extension | undefined, read: (reader: DerReader) => T): T | undefined {
  if (extension === undefined) return undefined;
  const reader = new DerReader(extension.value);
  const value = read(reader);
  reader.finish();
  return value;
}
