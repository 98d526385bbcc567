// TLS of outgoing connections, for clients of another catalogue and of targets: what a failed handshake means, and the
// cure. Opens no connection.
import { reasonOf } from './operationError.ts';

/** The error message, with the cure, of a TLS failure that another attempt would meet again; undefined for others. */
export function tlsFailureText(error: unknown): string | undefined {
  return reasonOf(error) === 'ERR_SSL_WRONG_VERSION_NUMBER' ? 'answers without TLS: is it http://?' : undefined;
}
