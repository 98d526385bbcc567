// Keys of an S3 server: either fixed ones from the environment, or temporary ones from a service, renewed before they
// expire. Messages never contain a key or a token.
import { readBytesWithin } from '../boundedBytes.ts';
import { connectionsTo } from '../connections.ts';
import { readTextWithin } from '../files.ts';
import { OperationError, reasonOf } from '../operationError.ts';
import { childElements, textContent, readXml } from '../xml/xml.ts';
import { targetError } from './httpExchange.ts';
import type { KeyService, S3Access, S3Keys } from './target.ts';

/** Keys are renewed this long before they expire, or halfway to their expiry if that is later. */
const EARLY_MS = 300_000;
const BYTES_MAX = 1 << 16;
const LIMITS = { depth: 16, elements: 100, attributes: 16, instructions: 16 } as const;
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
  let renewMs = 0;
  let renewal: Promise<void> | undefined;
  const renew = async (): Promise<void> => {
    const startMs = Date.now();
    const newKeys = await requestKeys(keyService, timeoutMs);
    current = newKeys;
    renewMs = Math.max(newKeys.expiresMs - EARLY_MS, (startMs + newKeys.expiresMs) / 2);
  };
  return async () => {
    if (Date.now() < renewMs) return current;
    renewal ??= renew().finally(() => (renewal = undefined));
    await renewal.catch((error: unknown) => {
      if (!current || current.expiresMs <= Date.now()) throw error;
    });
    return current;
  };
}

async function requestKeys(
  { url: address, tokenFile, token: inlineToken, role }: KeyService,
  timeoutMs: number,
): Promise<IssuedKeys> {
  const url = new URL(address);
  const token = tokenFile === '' ? inlineToken : readTextWithin(tokenFile, BYTES_MAX).trim();
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
    const { AccessKeyId: id, SecretAccessKey: secret, ...others } = role ? xmlTexts(text) : jsonTexts(text);
    const { Token: sessionToken = others['SessionToken'] ?? '', Expiration: end = '' } = others;
    const expiresMs = Date.parse(end);
    if (![id, secret, sessionToken].every((key) => /^[!-~]+$/.test(key ?? '')) || Number.isNaN(expiresMs))
      throw targetError(url.origin, 'the response to a request for keys has none');
    return { id: id!, secret: secret!, token: sessionToken, expiresMs };
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

function jsonTexts(text: string): Texts {
  try {
    const value = JSON.parse(text) as Record<string, unknown> | null;
    return Object.fromEntries(Object.entries(value ?? {}).map(([name, member]) => [name, String(member)]));
  } catch {
    return {};
  }
}

/** The child elements of `Credentials`, which is two levels below the root, with their texts. */
function xmlTexts(text: string): Texts {
  const reading = readXml(text, LIMITS);
  if (reading.kind === 'refused') return {};
  const credentials = childElements(reading.root)
    .flatMap(childElements)
    .find(({ name }) => name === 'Credentials');
  return Object.fromEntries(
    credentials ? childElements(credentials).map((child) => [child.name, textContent(child)]) : [],
  );
}
