import { fileURLToPath } from 'node:url';

/** By protocol, the form of the URL for messages, and its check. */
const KINDS: Readonly<Record<string, readonly [form: string, isGood: (url: URL) => boolean]>> = {
  'file:': ['file:///folder, with the whole path', isFolder],
  'http:': ['http(s)://host/folder/', isAny],
  'https:': ['http(s)://host/folder/', isAny],
  'nats:': ['nats://host:4222/bucket, a name of letters, digits, - and _', isNatsBucket],
  'tls:': ['tls://host:4222/bucket, a name of letters, digits, - and _', isNatsBucket],
  's3:': ['s3://bucket/prefix, of letters, digits, ".", "_" and "-"', isS3Prefix],
};

const FORMS = 'file:///folder, http(s)://host/folder/, nats://host:4222/bucket or s3://bucket/prefix';

/**
 * Describes the error in the URL of a target; undefined if it is right. The text of the URL is not repeated, because it
 * may contain a secret.
 */
export function targetUrlError(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const kind = url && KINDS[url.protocol];
  if (!kind) return `no target${url ? `, since it begins with ${url.protocol}` : ''}: want ${FORMS}`;
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return 'a target has no user, password, query or fragment in its URL';
  const [form, isGood] = kind;
  return isGood(url) ? undefined : `no target: want ${form}`;
}

export function natsBucket({ pathname }: URL): string {
  return pathname.replace(/^\/|\/$/g, '');
}

/** The prefix of S3 keys in a URL, without slashes around it; '' for the whole bucket. */
export function s3Prefix({ pathname }: URL): string {
  return pathname.replace(/^\/+|\/+$/g, '');
}

function isAny(): boolean {
  return true;
}

function isFolder(url: URL): boolean {
  try {
    return fileURLToPath(url) !== '';
  } catch {
    return false;
  }
}

function isNatsBucket(url: URL): boolean {
  return url.hostname !== '' && /^[-\w]{1,64}$/.test(natsBucket(url));
}

/** Whether no name in it needs escaping. */
function isS3Prefix(url: URL): boolean {
  const prefix = s3Prefix(url);
  const isBucket = /^[A-Za-z0-9][\w.-]{1,61}[A-Za-z0-9]$/.test(url.hostname) && url.port === '';
  return isBucket && /^(?:[\w.-]+(?:\/[\w.-]+)*)?$/.test(prefix) && prefix.length <= 512;
}
