// What URL a target has, judged before anything is asked of it: of each kind, which names it may have. Pure; what is
// wrong is told without the text, which may hold a secret.
import { fileURLToPath } from 'node:url';

/** The protocols, and for each what its URL is to be, and whether it is. */
const KINDS: Readonly<Record<string, readonly [form: string, isGood: (url: URL) => boolean]>> = {
  'file:': ['file:///folder, with the whole path', isFolder],
  'http:': ['http(s)://host/folder/', isAny],
  'https:': ['http(s)://host/folder/', isAny],
  'nats:': ['nats://host:4222/bucket, a name of letters, digits, - and _', isNatsBucket],
  'tls:': ['tls://host:4222/bucket, a name of letters, digits, - and _', isNatsBucket],
  's3:': ['s3://bucket/prefix, of letters, digits, ".", "_" and "-"', isS3Prefix],
};

const FORMS = 'file:///folder, http(s)://host/folder/, nats://host:4222/bucket or s3://bucket/prefix';

/** What is wrong with the URL of a target, as what is wanted; undefined where it is one. */
export function targetMistake(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const kind = url && KINDS[url.protocol];
  if (!kind) return `no target${url ? `, since it begins with ${url.protocol}` : ''}: want ${FORMS}`;
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return 'a target has no user, password, query or fragment in its URL';
  const [form, isGood] = kind;
  return isGood(url) ? undefined : `no target: want ${form}`;
}

export function natsBucketOf({ pathname }: URL): string {
  return pathname.replace(/^\/|\/$/g, '');
}

/** The prefix of keys of S3 that a URL names, without a slash around it; '' for all of the bucket. */
export function s3PrefixOf({ pathname }: URL): string {
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
  return url.hostname !== '' && /^[-\w]{1,64}$/.test(natsBucketOf(url));
}

/** Whether no name in it would have to be escaped. */
function isS3Prefix(url: URL): boolean {
  const prefix = s3PrefixOf(url);
  const isBucket = /^[A-Za-z0-9][\w.-]{1,61}[A-Za-z0-9]$/.test(url.hostname) && url.port === '';
  return isBucket && /^(?:[\w.-]+(?:\/[\w.-]+)*)?$/.test(prefix) && prefix.length <= 512;
}
