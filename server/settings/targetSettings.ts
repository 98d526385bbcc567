// The settings about the targets that snapshots come from and go to: rows of the table in declarations.ts, and who a
// process is to a target that asks.
import type { TargetAccess } from '../../data/distribution/target.ts';
import type { Settings } from './settings.ts';
import { type Environment, one, type Setting } from './sources.ts';
import { BASE_URL, DAY_MS, durationBetween, integerBetween, oneOf, PATH, REGION, SWITCH, TARGET } from './values.ts';

type TargetSetting =
  | 'from'
  | 'pollMs'
  | 'cache'
  | 'allowRollback'
  | 'maxStaleMs'
  | 'natsCredentials'
  | 'natsCa'
  | 'natsReplicas'
  | 's3Endpoint'
  | 's3Region'
  | 's3Addressing';

/** Rows of the table of settings. */
export const TARGET_SETTINGS: { readonly [K in TargetSetting]: Setting<Settings[K]> } = {
  from: one(
    {
      name: 'from',
      kind: TARGET,
      help: 'target to fetch the data from: file:///folder, http(s)://host/folder/, nats://host:4222/bucket or s3://bucket/prefix',
      initialText: 'off',
    },
    undefined,
  ),
  pollMs: one(
    {
      name: 'poll',
      kind: durationBetween(100, DAY_MS),
      help: 'how often the target is asked for new data',
      initialText: '10s',
    },
    10_000,
  ),
  cache: one(
    { name: 'cache', kind: PATH, help: 'directory that keeps the last two generations that were fetched' },
    'catalogue-cache',
  ),
  allowRollback: one(
    { name: 'allowRollback', kind: SWITCH, help: 'take older data from the target too', initialText: 'off' },
    false,
  ),
  maxStaleMs: one(
    {
      name: 'maxStale',
      kind: durationBetween(1000, 365 * DAY_MS),
      help: 'not ready any more when what is served was not confirmed by its target, or refreshed by --follow, for so long',
      initialText: 'off',
    },
    undefined,
  ),
  natsCredentials: one(
    {
      name: 'natsCredentials',
      kind: PATH,
      help: 'file for NATS: credentials, seed, user:password or token',
      initialText: 'none',
    },
    undefined,
  ),
  natsCa: one(
    { name: 'natsCa', kind: PATH, help: 'PEM file of the authorities of NATS servers', initialText: "Node.js's own" },
    undefined,
  ),
  natsReplicas: one(
    {
      name: 'natsReplicas',
      kind: integerBetween(1, 5),
      help: 'servers that a NATS bucket lies on which a publisher makes',
    },
    1,
  ),
  s3Endpoint: one(
    { name: 's3Endpoint', kind: BASE_URL, help: 'URL of the S3 server', initialText: 'that of AWS in the region' },
    undefined,
  ),
  s3Region: one({ name: 's3Region', kind: REGION, help: 'region of the bucket of S3' }, 'us-east-1'),
  s3Addressing: one(
    {
      name: 's3Addressing',
      kind: oneOf('path', 'host'),
      help: 'where the name of the bucket of S3 stands',
      initialText: 'path with an endpoint, else host',
    },
    undefined,
  ),
};

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
export function targetAccessOf(settings: Pick<Settings, TargetSetting>, environment: Environment): TargetAccess {
  const { natsCredentials, natsCa, natsReplicas, s3Endpoint, s3Region, s3Addressing } = settings;
  const of = (name: string): string => environment[name] ?? '';
  const keys = { id: of('AWS_ACCESS_KEY_ID'), secret: of('AWS_SECRET_ACCESS_KEY'), token: of('AWS_SESSION_TOKEN') };
  return {
    nats: { credentials: natsCredentials, ca: natsCa, replicas: natsReplicas },
    s3: { endpoint: s3Endpoint, region: s3Region, addressing: s3Addressing, keys },
  };
}
