// The settings for the source and destination of a replica's data: the catalogue that is crawled or followed, and the
// targets of snapshots. They are rows of the table in declarations.ts; some are also flags of crawl and follow.
import type { KeyService, TargetAccess } from '../../data/distribution/target.ts';
import { type Environment, flagName, named, one, type ValuesOf } from './sources.ts';
import {
  BASE_URL,
  CONTACT,
  DAY_MS,
  durationBetween,
  integerBetween,
  numberBetween,
  oneOf,
  PATH,
  REGION,
  SWITCH,
  TARGET,
} from './values.ts';

const PERIOD = durationBetween(1000, 7 * DAY_MS);
const PERCENT = numberBetween(0, 100);

/** For every crawl; `ca` also applies to targets. */
const CRAWLING = named('Following', {
  concurrency: one(integerBetween(1, 4), 2, { help: 'simultaneous requests to a crawled catalogue, 1 to 4' }),
  rate: one(numberBetween(0.01, 1000), 10, { help: 'maximum of requests a second to it' }),
  timeoutSeconds: one(numberBetween(0.01, 600), 30, {
    name: 'timeout',
    help: 'timeout of its responses, in seconds',
  }),
  contact: one(CONTACT, undefined, {
    help: 'operator of the crawl, for the User-Agent: an address or URL',
    initialText: 'none',
  }),
  ca: one(PATH, undefined, {
    help: 'PEM file of the trusted authorities of catalogues and targets',
    initialText: "Node.js's and the system's",
  }),
  linksMin: one(PERCENT, 99.9, { help: 'percentage of its links that must lead to a record' }),
  shrinkMax: one(PERCENT, 5, { help: 'percentage of records that a collection may lose' }),
});

export type CrawlSettings = ValuesOf<typeof CRAWLING>;

export const FOLLOW_SETTINGS = named('Following', {
  follow: one(BASE_URL, undefined, {
    help: 'base URL of a catalogue: serve a replica of it and keep it fresh',
  }),
  everyMs: one(PERIOD, 900_000, {
    name: 'every',
    help: 'interval between comparisons with the followed catalogue',
    initialText: '15m',
  }),
  sweepEveryMs: one(PERIOD, DAY_MS, {
    name: 'sweepEvery',
    help: 'interval between full reads of a collection',
    initialText: '1d',
  }),
  lenient: one(SWITCH, false, {
    help: 'skip invalid records instead of rejecting the whole data set',
  }),
  takeNulls: one(SWITCH, false, {
    help: 'accept null in fields that are documented to have values',
  }),
  state: one(PATH, 'catalogue.follow', { help: 'folder of the replica (with --follow)' }),
  ...CRAWLING,
});

export const CRAWL_FLAGS: readonly string[] = [...Object.values(CRAWLING).map(({ name }) => name), 'config'];

export const FOLLOW_FLAGS: readonly string[] = [...CRAWL_FLAGS, 'every', 'sweepEvery', 'lenient', 'takeNulls'];

/** All flags for a child process that follows, so that its environment does not matter. */
export function crawlWords(settings: ValuesOf<typeof FOLLOW_SETTINGS>): readonly string[] {
  const { everyMs, sweepEveryMs } = settings;
  const words = Object.entries(CRAWLING).flatMap(([key, setting]) => {
    const value = settings[key as keyof CrawlSettings];
    return value === undefined ? [] : [flagName(setting), String(value)];
  });
  const switches = (['lenient', 'takeNulls'] as const).filter((key) => settings[key]);
  const flags = switches.map((key) => flagName(FOLLOW_SETTINGS[key]));
  const { everyMs: every, sweepEveryMs: sweep } = FOLLOW_SETTINGS;
  return [...words, flagName(every), `${everyMs}ms`, flagName(sweep), `${sweepEveryMs}ms`, ...flags];
}

export const TARGET_SETTINGS = named('Targets', {
  from: one(TARGET, undefined, {
    help: 'target to fetch the data from: a file, http(s), nats, tls or s3 URL',
  }),
  pollMs: one(durationBetween(100, DAY_MS), 10_000, {
    name: 'poll',
    help: 'interval between polls of the target',
    initialText: '10s',
  }),
  cache: one(PATH, 'catalogue-cache', { help: 'directory for the last two served generations' }),
  allowRollback: one(SWITCH, false, { help: 'accept older data from the target' }),
  maxStaleMs: one(durationBetween(1000, 365 * DAY_MS), undefined, {
    name: 'maxStale',
    help: 'report not ready if the data has not been confirmed by its target, or compared by --follow, for this long',
  }),
  natsCredentials: one(PATH, undefined, {
    help: 'file for NATS: credentials, seed, user:password or token',
    initialText: 'none',
  }),
  natsCa: one(PATH, undefined, { help: 'PEM file of the authorities of NATS servers', initialText: 'those of --ca' }),
  natsReplicas: one(integerBetween(1, 5), 1, { help: 'replicas of the JetStream bucket, if publishing creates it' }),
  s3Endpoint: one(BASE_URL, undefined, { help: 'URL of the S3 server', initialText: 'that of AWS in the region' }),
  s3Region: one(REGION, 'us-east-1', { help: 'region of the S3 bucket' }),
  s3Addressing: one(oneOf('path', 'host'), undefined, {
    help: 'place of the S3 bucket name in URLs',
    initialText: 'path with an endpoint, else host',
  }),
});

export const PUBLISHER_SETTINGS: readonly string[] = [
  'ca',
  'natsCredentials',
  'natsCa',
  'natsReplicas',
  's3Endpoint',
  's3Region',
  's3Addressing',
  'config',
];

/** Destinations of a publisher, for error messages and help. */
export const PUBLISHED_FORMS = 'file:///folder, nats://host:4222/bucket or s3://bucket/prefix';

/** The flag, and its help, that lets a publisher use an S3 server that ignores conditions. */
export const S3_UNCONDITIONAL = [
  '--s3-unconditional',
  'publish to an S3 server that ignores conditions too, as its only publisher',
] as const;

/** The credentials of a process for targets, from its settings and the S3 keys of an environment. */
export function targetAccessOf(
  settings: ValuesOf<typeof TARGET_SETTINGS> & Pick<CrawlSettings, 'ca'>,
  environment: Environment,
): TargetAccess {
  const { ca, natsCredentials, natsCa, natsReplicas, s3Endpoint, s3Region, s3Addressing } = settings;
  const variable = (name: string): string => environment[name]?.trim() ?? '';
  const keys = {
    id: variable('AWS_ACCESS_KEY_ID'),
    secret: variable('AWS_SECRET_ACCESS_KEY'),
    token: variable('AWS_SESSION_TOKEN'),
  };
  return {
    ca,
    nats: { credentials: natsCredentials, ca: natsCa, replicas: natsReplicas },
    s3: {
      endpoint: s3Endpoint,
      region: s3Region,
      addressing: s3Addressing,
      keys,
      keyService: keyServiceOf(variable, s3Region),
    },
  };
}

/** The service that issues keys of S3, by the variables of the AWS SDKs. */
function keyServiceOf(of: (name: string) => string, region: string): KeyService | undefined {
  const [identity, arn] = [of('AWS_WEB_IDENTITY_TOKEN_FILE'), of('AWS_ROLE_ARN')];
  if (identity !== '' && arn !== '') {
    const url = of('AWS_ENDPOINT_URL_STS') || `https://sts.${region}.amazonaws.com`;
    const session = of('AWS_ROLE_SESSION_NAME') || 'catalogue-replica';
    return { url, tokenFile: identity, role: { arn, session } };
  }
  const relative = of('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI');
  const url = relative === '' ? of('AWS_CONTAINER_CREDENTIALS_FULL_URI') : `http://169.254.170.2${relative}`;
  return url === '' ? undefined : { url, tokenFile: of('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE') };
}
