// Who a publisher or a replica is to a NATS cluster, and whom it believes: from files only, so that no secret stands in
// a URL, in an environment or in a list of processes. Nothing of what the files hold is ever repeated.
import {
  type ConnectionOptions,
  credsAuthenticator,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node';
import { textWithin } from '../files.ts';
import { OperationError } from '../operationError.ts';
import type { NatsAccess } from './target.ts';

const FILE_BYTES_MAX = 1 << 16;
const PORT = '4222';

/**
 * How a cluster is connected to: encrypted for `tls:`, and for `nats:` too where its servers can. Reads the files each
 * time, since they may be replaced. Throws OperationError `file` and `input`.
 */
export function natsAccessOptions(url: URL, { credentials, ca }: NatsAccess): ConnectionOptions {
  const isEncrypted = url.protocol === 'tls:' || ca !== undefined;
  return {
    servers: `${url.hostname}:${url.port || PORT}`,
    ...(isEncrypted && { tls: ca === undefined ? {} : { ca: textWithin(ca, FILE_BYTES_MAX) } }),
    ...(credentials !== undefined && { authenticator: authenticatorOf(credentials) }),
  };
}

/** By what the file holds: credentials with a signed user, a seed, a name with its password, or a token. */
function authenticatorOf(file: string): NonNullable<ConnectionOptions['authenticator']> {
  const text = textWithin(file, FILE_BYTES_MAX).replaceAll('\r\n', '\n').trim();
  const encoder = new TextEncoder();
  // The library wants an end of the last line.
  if (/^-+BEGIN NATS USER JWT-+\n/.test(text)) return credsAuthenticator(encoder.encode(`${text}\n`));
  if (/^SU[A-Z2-7]{56}$/.test(text)) return nkeyAuthenticator(encoder.encode(text));
  const [, user, password] = /^([^:\s]+):(\S+)$/.exec(text) ?? [];
  if (user !== undefined && password !== undefined) return usernamePasswordAuthenticator(user, password);
  if (/^[^:\s]+$/.test(text)) return tokenAuthenticator(text);
  throw new OperationError('input', `${file}: want NATS credentials, an nkey seed, user:password or a token`);
}
