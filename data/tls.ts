// TLS of connections to another catalogue and to targets: the authorities that they trust, and what a failed handshake
// means. Opens no connection.
import { X509Certificate } from 'node:crypto';
import tls from 'node:tls';
import { textWithin } from './files.ts';
import { OperationError, reasonOf } from './operationError.ts';

/** The bundle of a system has about 0.3 MB. */
const CA_BYTES_MAX = 4 << 20;

let isSystemTrusted = false;

/**
 * The option of a TLS connection that names the authorities in a PEM file. Without a file there is none: Node.js's own
 * authorities count, and from the first call on those of the system's trust store too, which takes 60 ms. Throws
 * OperationError `file`, and `input` for a file without a certificate.
 */
export function trustedAuthorities(file: string | undefined): { readonly ca?: string } {
  if (file === undefined) {
    // Node 22.18 cannot: it needs NODE_OPTIONS=--use-system-ca.
    const trust = tls.setDefaultCACertificates as typeof tls.setDefaultCACertificates | undefined;
    if (!isSystemTrusted) trust?.([...tls.getCACertificates('default'), ...tls.getCACertificates('system')]);
    isSystemTrusted = true;
    return {};
  }
  const ca = textWithin(file, CA_BYTES_MAX);
  try {
    void new X509Certificate(ca);
  } catch (error) {
    throw new OperationError('input', `${file}: want certificates of authorities, in PEM`, error);
  }
  return { ca };
}

const NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';
const TIME = /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/;
/** The codes of Node.js for other certificates that are refused. */
const UNTRUSTED =
  /^(?:UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF|DECODE_ISSUER|DECRYPT_CERT)\w*|(?:DEPTH_ZERO_)?SELF_SIGNED_CERT\w*|CERT_\w+|INVALID_(?:CA|PURPOSE)|PATH_LENGTH_EXCEEDED)$/;

/**
 * The message, with the cure, of a TLS failure that another attempt would meet again; undefined for others. `setting`
 * names the file of authorities.
 */
export function tlsFailureText(error: unknown, setting = '--ca'): string | undefined {
  const code = reasonOf(error);
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') return 'answers without TLS: is it http://?';
  if (code === NAME) return `${code}: ${(error as Error).message}: use a name of its certificate in the URL`;
  if (TIME.test(code)) return `${code}: its certificate must be renewed, unless the clock of this machine is wrong`;
  if (!UNTRUSTED.test(code)) return undefined;
  const cure = `name a PEM file of its authority with ${setting}, or add that to the system's trust store`;
  return `${code}: its certificate is not from a trusted authority: ${cure}`;
}
