// Keys of an S3 server: either fixed ones from the environment, or temporary ones from a service, renewed before they
// expire. Messages never contain a key or a token.
import { parseJson } from '../../engine/bits/json.ts';
import { readBytesWithin } from '../boundedBytes.ts';
import { connectionsTo } from '../connections.ts';
import { readTextWithin } from '../files.ts';
import { OperationError, reasonOf } from '../operationError.ts';
import { targetError } from './httpExchange.ts';
import type { KeyService, S3Access, S3Keys } from './target.ts';

/** Keys are renewed this long before they expire. AWS issues none for less than 15 minutes. */
const EARLY_MS = 300_000;
const BYTES_MAX = 1 << 16;
/** URLs that may receive a token: https, or the local and link-local hosts that the AWS SDKs also allow without TLS. */
const TLS_OR_LOCAL =
  /^https:|^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]|169\.254\.170\.2|169\.254\.170\.23|\[fd00:ec2::23\])(?::|\/)/;

interface IssuedKeys extends S3Keys {
  readonly expiresMs: number;
}

/**
 * Returns a function that resolves to valid keys; undefined if none are configured. It rejects with OperationError
 * `network` if the service issues no keys, and `file` if the token file cannot be read. Throws OperationError `usage`
 * if the URL of the service is invalid or must not receive a token.
 */
export function keySource({ keys, keyService }: S3Access, timeoutMs: number): () => Promise<S3Keys | undefined> {
  if (!keyService || (keys?.id ?? '') !== '') return () => Promise.resolve(keys);
  const { url, role } = keyService;
  const [name, expected, pattern] = role
    ? (['AWS_ENDPOINT_URL_STS', 'an http or https URL', /^https?:/] as const)
    : (['AWS_CONTAINER_CREDENTIALS_FULL_URI', 'an https URL or one of this machine', TLS_OR_LOCAL] as const);
  if (!URL.canParse(url) || !pattern.test(new URL(url).href))
    throw new OperationError('usage', `${name}: want ${expected}`);
  let current: IssuedKeys | undefined;
  let renewal: Promise<IssuedKeys> | undefined;
  return async () => {
    if (current && Date.now() < current.expiresMs - EARLY_MS) return current;
    renewal ??= requestKeys(keyService, timeoutMs).finally(() => (renewal = undefined));
    current = await renewal.catch((error: unknown) => {
      if (current && Date.now() < current.expiresMs) return current;
      throw error;
    });
    return current;
  };
}

async function requestKeys({ url: address, tokenFile, role }: KeyService, timeoutMs: number): Promise<IssuedKeys> {
  const url = new URL(address);
  const token = tokenFile === '' ? '' : readTextWithin(tokenFile, BYTES_MAX).trim();
  const connections = connectionsTo(url.origin, timeoutMs, 1, role === undefined);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const headers = token === '' ? {} : { authorization: token };
    const path = url.pathname + url.search;
    const { statusCode, body } = await connections.request(
      role ? { method: 'POST', path, ...roleRequest(role, token), signal } : { method: 'GET', path, headers, signal },
    );
    const text = (await readBytesWithin(body, BYTES_MAX))?.toString() ?? '';
    if (statusCode !== 200) throw targetError(url.origin, `answered ${statusCode} to a request for keys`);
    const texts = role ? leafTexts(text) : ((parseJson(text) ?? {}) as Texts);
    const { AccessKeyId: id, SecretAccessKey: secret, Token, SessionToken = Token, Expiration: end = '' } = texts;
    const expiresMs = Date.parse(end);
    if (![id, secret, SessionToken].every((key) => /^[!-~]+$/.test(key ?? '')) || Number.isNaN(expiresMs))
      throw targetError(url.origin, 'the response to a request for keys has none');
    return { id: id!, secret: secret!, token: SessionToken!, expiresMs };
  } catch (error) {
    throw error instanceof OperationError ? error : targetError(url.origin, `no keys: ${reasonOf(error)}`, error);
  } finally {
    await connections.destroy();
  }
}

function roleRequest({ arn, session }: NonNullable<KeyService['role']>, token: string) {
  const action = { Action: 'AssumeRoleWithWebIdentity', Version: '2011-06-15' };
  const form = new URLSearchParams({ ...action, RoleArn: arn, RoleSessionName: session, WebIdentityToken: token });
  return { body: form.toString(), headers: { 'content-type': 'application/x-www-form-urlencoded' } };
}

type Texts = Readonly<Record<string, string | undefined>>;

/** The texts of the XML elements that have no others. Keys and dates contain no references to decode. */
function leafTexts(xml: string): Texts {
  return Object.fromEntries([...xml.matchAll(/<(\w+)>([^<]*)<\/\1>/g)].map(([, name, value]) => [name, value]));
}
