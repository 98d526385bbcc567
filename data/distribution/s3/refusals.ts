// Why an S3 server refuses, and what to do: told from its code alone. Its own sentences are never repeated, since they
// may hold keys and signatures.
import { readS3Answer } from './answers.ts';

/** What an answer says that is no success. */
export interface S3Refusal {
  readonly status: number;
  readonly body: string;
  readonly region: string;
  readonly date: string;
}

/** Where the keys come from; no setting and no file has them. */
export const KEYS_FROM = 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';

const CURES: Readonly<Record<string, string>> = {
  AccessDenied: `who has ${KEYS_FROM} may not do this there: allow s3:GetObject and s3:ListBucket, to a publisher also s3:PutObject, s3:DeleteObject and those of multipart uploads`,
  InvalidAccessKeyId: 'the server does not know AWS_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'AWS_SECRET_ACCESS_KEY is not that of AWS_ACCESS_KEY_ID, or --s3-region is another one',
  ExpiredToken: 'AWS_SESSION_TOKEN has expired: start again with new keys',
  InvalidToken: 'AWS_SESSION_TOKEN is not that of AWS_ACCESS_KEY_ID',
  NoSuchBucket: 'make the bucket first: none is made here',
  EntityTooLarge: 'the server takes no objects of this size',
  QuotaExceeded: 'the bucket is full: prune it, or give it more room',
  SlowDown: 'the server asks to be asked less often',
};

const CODE = /^[A-Za-z]{1,64}$/;
const REGION = /^[a-z0-9-]{1,32}$/;

/** A sentence about an answer: its status, its code where it has one, and the cure. */
export function refusalText({ status, body, region: told, date }: S3Refusal, hasKeys: boolean): string {
  const texts = readS3Answer(body)?.texts ?? {};
  const code = texts['Code'] ?? '';
  const answered = CODE.test(code) ? `answered ${status} ${code}` : `answered ${status}`;
  const region = [told, texts['Region'] ?? ''].find((one) => REGION.test(one));
  const isElsewhere = code === 'AuthorizationHeaderMalformed' || (status >= 300 && status < 400);
  if (isElsewhere)
    return `${answered}: ${region === undefined ? 'the bucket is elsewhere, and nothing is followed' : `the bucket is in another region: want --s3-region ${region}`}`;
  if (code === 'RequestTimeTooSkewed')
    return `${answered}: the clocks differ, that of the server says ${/^[\w:, ]{1,40}$/.test(date) ? date : 'nothing'}: set that of this machine`;
  if ([400, 401, 403].includes(status) && !hasKeys) return `${answered}: want keys, in ${KEYS_FROM}`;
  const cure = CURES[CODE.test(code) ? code : ''] ?? (status === 403 ? CURES['AccessDenied'] : undefined);
  return cure === undefined ? answered : `${answered}: ${cure}`;
}
