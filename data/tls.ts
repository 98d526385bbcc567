// TLS of connections to another catalogue and to targets: the authorities that they trust, and what a failed handshake
// means. Opens no connection.
import tls from 'node:tls';
import { textWithin } from './files.ts';
import { OperationError, reasonOf } from './operationError.ts';

/** The bundle of a system has about 0.3 MB. */
const CA_BYTES_MAX = 4 << 20;

/**
 * Makes TLS connections of this thread trust the authorities in a PEM file, or without a file those of Node.js and of
 * the system's trust store, which takes 0.1 s. Throws OperationError `file`, and `input` for a file that has none.
 */
export function trustAuthorities(file: string | undefined): void {
  // Node 22.19 and 24.5 were the first to have it; older ones trust what their own flags name.
  const trust = tls.setDefaultCACertificates as typeof tls.setDefaultCACertificates | undefined;
  if (!trust && file !== undefined) throw new OperationError('usage', '--ca needs Node.js 22.19, 24.5 or later');
  if (file === undefined) return trust?.((['bundled', 'extra', 'system'] as const).flatMap(tls.getCACertificates));
  const pem = textWithin(file, CA_BYTES_MAX);
  try {
    trust?.([pem]);
  } catch (error) {
    throw new OperationError('input', `${file}: want certificates of authorities, in PEM`, error);
  }
}

const TIME = /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/;
/** The codes of Node.js for other certificates that are refused. */
const UNTRUSTED =
  /^(?:UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF|DECODE_ISSUER|DECRYPT_CERT)\w*|(?:DEPTH_ZERO_)?SELF_SIGNED_CERT\w*|CERT_\w+|INVALID_(?:CA|PURPOSE)|PATH_LENGTH_EXCEEDED)$/;

/** The message, with the cure, of a TLS failure that another attempt would meet again; undefined for others. */
export function tlsFailureText(error: unknown): string | undefined {
  const code = reasonOf(error);
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') return 'answers without TLS: is it http://?';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `${code}: ${(error as Error).message}: use a name of its certificate in the URL`;
  if (TIME.test(code)) return `${code}: its certificate must be renewed, unless the clock of this machine is wrong`;
  if (!UNTRUSTED.test(code)) return undefined;
  const cure =
    "name a PEM file of its authority with --ca (--nats-ca for NATS), or add that to the system's trust store";
  return `${code}: its certificate is not from a trusted authority: ${cure}`;
}
