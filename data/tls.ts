import tls from 'node:tls';
import { readTextWithin } from './files.ts';
import { OperationError, reasonOf } from './operationError.ts';

/** The bundle of a system has about 0.3 MB. */
const CA_BYTES_MAX = 4 << 20;
/** Whether this thread trusts the default authorities because of an earlier call. */
let trustsDefault = false;

/**
 * Sets the authorities that TLS connections of this thread trust: those in a PEM file, or without a file those of
 * Node.js and of the system's trust store, which takes 0.1 s the first time. Throws OperationError `file`, and `input`
 * for a file without certificates.
 */
export function trustAuthorities(file: string | undefined): void {
  // Available from Node 22.19 and 24.5 on. Older versions trust the authorities that their own flags name.
  const trust = tls.setDefaultCACertificates as typeof tls.setDefaultCACertificates | undefined;
  if (!trust && file !== undefined) throw new OperationError('usage', '--ca needs Node.js 22.19, 24.5 or later');
  if (file === undefined) {
    if (!trustsDefault) trust?.((['bundled', 'extra', 'system'] as const).flatMap(tls.getCACertificates));
    trustsDefault = true;
    return;
  }
  const pem = readTextWithin(file, CA_BYTES_MAX);
  try {
    trust?.([pem]);
    trustsDefault = false;
  } catch (error) {
    throw new OperationError('input', `${file}: want certificates of authorities, in PEM`, error);
  }
}

const TIME = /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/;
/** Other codes of Node.js for refused certificates. */
const UNTRUSTED =
  /^(?:UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF|DECODE_ISSUER|DECRYPT_CERT)\w*|(?:DEPTH_ZERO_)?SELF_SIGNED_CERT\w*|CERT_\w+|INVALID_(?:CA|PURPOSE)|PATH_LENGTH_EXCEEDED)$/;

/** The message, with what to do, for a TLS failure that would be the same at another attempt; undefined for others. */
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
