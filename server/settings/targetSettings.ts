// The settings about the targets that snapshots come from and go to: rows of the table in declarations.ts, and who a
// process is to a target that asks.
import type { TargetAccess } from '../../data/distribution/target.ts';
import { type Environment, named, one, type ValuesOf } from './sources.ts';
import { BASE_URL, DAY_MS, durationBetween, integerBetween, oneOf, PATH, REGION, SWITCH, TARGET } from './values.ts';

/** Rows of the table of settings. */
export const TARGET_SETTINGS = named({
  from: one(TARGET, undefined, {
    help: 'target to fetch the data from: file:///folder, http(s)://host/folder/, nats://host:4222/bucket or s3://bucket/prefix',
  }),
  pollMs: one(durationBetween(100, DAY_MS), 10_000, {
    name: 'poll',
    help: 'how often the target is asked for new data',
    initialText: '10s',
  }),
  cache: one(PATH, 'catalogue-cache', { help: 'directory that keeps the last two generations that were fetched' }),
  allowRollback: one(SWITCH, false, { help: 'take older data from the target too' }),
  maxStaleMs: one(durationBetween(1000, 365 * DAY_MS), undefined, {
    name: 'maxStale',
    help: 'not ready any more when what is served was not confirmed by its target, or refreshed by --follow, for so long',
  }),
  natsCredentials: one(PATH, undefined, {
    help: 'file for NATS: credentials, seed, user:password or token',
    initialText: 'none',
  }),
  natsCa: one(PATH, undefined, { help: 'PEM file of the authorities of NATS servers', initialText: "Node.js's own" }),
  natsReplicas: one(integerBetween(1, 5), 1, { help: 'servers that a NATS bucket lies on which a publisher makes' }),
  s3Endpoint: one(BASE_URL, undefined, { help: 'URL of the S3 server', initialText: 'that of AWS in the region' }),
  s3Region: one(REGION, 'us-east-1', { help: 'region of the bucket of S3' }),
  s3Addressing: one(oneOf('path', 'host'), undefined, {
    help: 'where the name of the bucket of S3 stands',
    initialText: 'path with an endpoint, else host',
  }),
});

/** The settings that publishers have too, by their names. */
export const PUBLISHER_SETTINGS: readonly string[] = [
  'natsCredentials',
  'natsCa',
  'natsReplicas',
  's3Endpoint',
  's3Region',
  's3Addressing',
  'config',
];

/** Where a publisher may write, for people. */
export const PUBLISHED_FORMS = 'file:///folder, nats://host:4222/bucket or s3://bucket/prefix';

/** The flag of a publisher that takes an S3 server which ignores conditions, and its help. */
export const S3_UNCONDITIONAL = [
  '--s3-unconditional',
  'publish to an S3 server that ignores conditions too, as its only publisher',
] as const;

/** Who a process is to targets, of its settings and the keys of S3 in an environment. */
export function targetAccessOf(settings: ValuesOf<typeof TARGET_SETTINGS>, environment: Environment): TargetAccess {
  const { natsCredentials, natsCa, natsReplicas, s3Endpoint, s3Region, s3Addressing } = settings;
  const of = (name: string): string => environment[name] ?? '';
  const keys = { id: of('AWS_ACCESS_KEY_ID'), secret: of('AWS_SECRET_ACCESS_KEY'), token: of('AWS_SESSION_TOKEN') };
  return {
    nats: { credentials: natsCredentials, ca: natsCa, replicas: natsReplicas },
    s3: { endpoint: s3Endpoint, region: s3Region, addressing: s3Addressing, keys },
  };
}
