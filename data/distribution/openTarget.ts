import { OperationError } from '../operationError.ts';
import { trustAuthorities } from '../tls.ts';
import { targetUrlError } from './targetUrl.ts';
import type { PublishingTarget, S3Access, Target, TargetAccess, TargetOptions } from './target.ts';

/** How long a publisher waits for a connection. */
const CONNECT_MS = 10_000;
/** How long a publisher waits for a response from an S3 server, and for it to accept 64 KiB. */
const S3_MS = 30_000;
const ANONYMOUS: S3Access = { region: 'us-east-1' };

/**
 * Opens the target of a URL for a replica and imports only the code of its kind. A new kind needs a line in both
 * functions here and its URL form in targetUrl.ts. Throws OperationError `usage` for a wrong URL, `file` and `input`
 * for the files of its access.
 */
export async function openTarget(url: string, options: TargetOptions): Promise<Target> {
  const target = assertTarget(url);
  if (target.protocol === 'file:') return (await import('./fileTarget.ts')).readableFolder(target, options.timeoutMs);
  trustAuthorities(options.ca);
  if (isNats(target))
    return (await import('./natsTarget.ts')).natsTarget(target, options.timeoutMs, options.nats ?? {});
  if (target.protocol === 's3:')
    return (await import('./s3Target.ts')).s3Target(target, options.timeoutMs, options.s3 ?? ANONYMOUS);
  return (await import('./httpTarget.ts')).httpTarget(target, options);
}

/** Opens the target of a URL for a publisher. Throws OperationError `usage` if it cannot be written to. */
export async function openPublishingTarget(url: string, access: TargetAccess = {}): Promise<PublishingTarget> {
  const target = assertTarget(url);
  if (target.protocol === 'file:') return (await import('./fileTarget.ts')).fileTarget(target);
  trustAuthorities(access.ca);
  if (isNats(target)) return (await import('./natsTarget.ts')).natsTarget(target, CONNECT_MS, access.nats ?? {});
  if (target.protocol === 's3:') return (await import('./s3Target.ts')).s3Target(target, S3_MS, access.s3 ?? ANONYMOUS);
  const cure = 'publish to the folder that its server serves, as file:///folder';
  throw new OperationError('usage', `${url}: snapshots cannot be published over HTTP: ${cure}`);
}

function isNats({ protocol }: URL): boolean {
  return protocol === 'nats:' || protocol === 'tls:';
}

/**
 * Parses the URL of a target. Throws OperationError `usage` if it is wrong. The message begins with `place`, the
 * setting with the URL, if given.
 */
export function assertTarget(text: string, place?: string): URL {
  const mistake = targetUrlError(text);
  if (mistake === undefined) return new URL(text);
  throw new OperationError('usage', place === undefined ? mistake : `${place}: ${mistake}`);
}
