// The settings, declared once: flags, environment variables, TOML keys, defaults, help, the README table and the types
// derive from DECLARATIONS. No other file reads the process environment. To add a setting, add a row to its group
// and the line in server/settings/README.md that the tidy test then requires.
import { availableParallelism } from 'node:os';
import path from 'node:path';
import type { TargetAccess } from '../../data/distribution/target.ts';
import { OperationError } from '../../data/operationError.ts';
import {
  BASE_URL,
  CACHE_CONTROL,
  CONTACT,
  HOST,
  installed,
  integerBetween,
  NETWORK,
  oneOf,
  PATH,
  RECORD_URL,
  SITE_NAME,
  SWITCH,
  WEB_ADDRESS,
} from './values.ts';
import {
  type Environment,
  type Flags,
  gatherSettings,
  many,
  named,
  one,
  type Setting,
  settingRows,
  sharedValues,
  type ValuesOf,
} from './sources.ts';
import { FOLLOW_SETTINGS, TARGET_SETTINGS, targetAccessOf } from './replicaSettings.ts';

const PORT = integerBetween(0, 65_535);
/** Listeners need different ports, except that any number of them may ask for a free one (0). */
const PORTS = ['port', 'http10Port', 'adminPort'];
/** Upper limits that catch typing errors: more threads than any machine has cores, and a terabyte. */
const THREADS_MAX = 1024;
const CACHE_MB_MAX = 1_000_000;
/** An hour: operators do not wait longer for a process to stop. */
const SECONDS_MAX = 3600;
/** The memory that a listener reserves for all unfinished bodies. */
const SOAP_BODY_BYTES_MAX = 64 << 20;
/** A sparser sample is not a useful log. */
const SAMPLE_MAX = 1_000_000;
/** The data that is served by default. */
export const SAMPLE: string = installed('data/sample');

const DATA = named('Data', {
  data: one(PATH, SAMPLE, {
    help: 'snapshot file or directory of <collection>.ndjson[.gz] files to serve',
    initialText: 'the embedded sample',
  }),
  watch: one(SWITCH, false, {
    help: 'reload when the data is replaced; otherwise only on SIGHUP or POST /reload',
  }),
});

const ADDRESSES = named('Addresses', {
  host: one(HOST, '127.0.0.1', { help: 'address to listen on' }),
  port: one(PORT, 8080, { help: 'port to listen on; 0 uses a free one and prints it' }),
  http10Port: one(PORT, undefined, {
    help: 'second port for HTTP/1.0 and unusual clients; 0 uses a free one',
  }),
  baseUrl: one(BASE_URL, undefined, {
    help: 'start of every link in responses',
    initialText: 'http://localhost:<port>',
  }),
  allowBaseUrls: many(BASE_URL, {
    name: 'allowBaseUrl',
    help: 'additional base URL, used if the host of a request matches it',
  }),
  trustedProxies: many(NETWORK, {
    name: 'trustedProxy',
    help: 'network whose X-Forwarded-Host, -Proto and X-Request-Id are trusted',
  }),
  recordUrl: one(RECORD_URL, undefined, {
    help: 'web page of a record in look-ups: a URL with {uuid}, {id} and {collection}',
    initialText: 'the browse page',
  }),
  siteName: one(SITE_NAME, 'Catalogue', {
    help: 'name of the catalogue on pages and in feeds, and the publisher of records without one',
  }),
  siteContact: one(CONTACT, undefined, {
    help: 'contact on pages: a mail address or URL',
    initialText: 'none',
  }),
  siteLicence: one(WEB_ADDRESS, undefined, {
    help: 'URL of the licence of the records themselves, on pages and in feeds',
    initialText: 'none',
  }),
  links: one(oneOf('spec', 'request'), 'spec', {
    help: 'links in records: always with ?format=api, or in the form of the request',
  }),
  browseOnApi: one(SWITCH, false, { help: 'serve web pages to browsers at every path of the API' }),
  cors: one(SWITCH, true, { help: 'allow browsers of any origin to read' }),
});

const LIMITS = named('Limits', {
  limitMax: one(integerBetween(1, Number.MAX_SAFE_INTEGER), undefined, {
    help: 'largest page; a larger limit is reduced to it',
    initialText: 'no bound',
  }),
  strict: one(SWITCH, false, { help: 'respond 400 to unknown parameters instead of ignoring them' }),
  filterErrors: one(oneOf('fail', 'empty', 'ignore'), 'fail', {
    help: 'a filter that cannot be applied: responds 400, matches nothing, or is ignored',
  }),
  filters: one(oneOf('all', 'documented'), 'all', { help: 'filter on every field, or only on the documented ones' }),
  explain: one(SWITCH, false, {
    help: 'allow clients to request the query plan of a list with explain=1',
  }),
  pinWalks: one(SWITCH, false, {
    help: 'keep a client that follows links on one generation; respond 410 after a swap',
  }),
  threads: one(integerBetween(1, THREADS_MAX), Math.min(availableParallelism(), THREADS_MAX), {
    help: 'serving threads',
    initialText: 'number of cores',
  }),
  rowSetCacheMb: one(integerBetween(0, CACHE_MB_MAX), 32, {
    help: 'cache of filter results in each serving thread, in MB; 0 disables it',
  }),
  answerCacheMb: one(integerBetween(0, CACHE_MB_MAX), 4, {
    help: 'cache of repeated responses in each serving thread, in MB; 0 disables it',
  }),
});

const AUTHORITY = named('Authority', {
  authority: one(PATH, undefined, {
    help: 'TOML file of the attribute authority to serve too',
    initialText: 'a demonstration with the embedded sample, else off',
  }),
  auditLog: one(PATH, undefined, {
    help: 'file for decisions of the attribute authority; - is standard output',
    initialText: 'standard output',
  }),
  soapBodyBytesMax: one(integerBetween(1024, SOAP_BODY_BYTES_MAX), 1_048_576, {
    help: 'longest SOAP request to the attribute authority, in bytes',
  }),
});

const OPERATION = named('Operation', {
  cacheControl: one(CACHE_CONTROL, 'public, no-cache', {
    help: 'Cache-Control of successful responses and redirections',
  }),
  gzip: one(oneOf('stored', 'live', 'off'), 'stored', {
    help: 'gzip: from records compressed in advance, compressed per response, or off',
  }),
  serverTiming: one(SWITCH, false, {
    help: 'send the time of each response in Server-Timing',
  }),
  drainGraceSeconds: one(integerBetween(0, SECONDS_MAX), 1, {
    help: 'time to serve on after a stop, while clients move away, in seconds',
  }),
  drainSeconds: one(integerBetween(0, SECONDS_MAX), 30, {
    help: 'time for running responses to complete after that, in seconds',
  }),
  replacedSeconds: one(integerBetween(1, 24 * SECONDS_MAX), 300, {
    help: 'time for responses from replaced data to complete, in seconds',
  }),
  adminHost: one(HOST, '127.0.0.1', { help: 'address of the admin port' }),
  adminPort: one(PORT, undefined, {
    help: 'port for operators: /livez, /readyz, /metrics, /status; 0 uses a free one',
  }),
  logFormat: one(oneOf('auto', 'people', 'json'), 'auto', {
    help: 'text (people) or JSON lines (json); auto: JSON from servers without a terminal',
  }),
  accessLog: one(PATH, undefined, {
    help: 'access log in JSON lines, reopened on SIGUSR2; - is standard output',
  }),
  accessLogSample: one(integerBetween(1, SAMPLE_MAX), 1, { help: 'log one request in this many' }),
});

const DECLARATIONS = {
  ...DATA,
  ...ADDRESSES,
  ...FOLLOW_SETTINGS,
  ...TARGET_SETTINGS,
  ...LIMITS,
  ...AUTHORITY,
  ...OPERATION,
};

/** Undefined means off, or decided where the value is used (`baseUrl` contains the actual port). */
export type Settings = ValuesOf<typeof DECLARATIONS>;

const { config: CONFIG } = named('Operation', {
  config: one(PATH, undefined, {
    help: 'TOML file of settings, keys as in server/settings/README.md',
    initialText: 'none',
  }),
});

/** All settings in the order of help and README. The file cannot contain `config`, which names it. */
export const SETTINGS: readonly Setting<unknown>[] = [...Object.values(DECLARATIONS), CONFIG];

/** Throws OperationError `usage` with every wrong value and its source, or `file` for the TOML file. */
export function readSettings(flags: Flags, environment: Environment = process.env): Settings {
  return readOrigins(flags, environment).settings;
}

/** The keys of S3 are not settings: they come from the usual environment variables and are never shown. */
export function targetAccess(settings: Settings, environment: Environment = process.env): TargetAccess {
  return targetAccessOf(settings, environment);
}

/** The settings, and a human-readable row for each, see settingRows. Throws as readSettings does. */
export function readOrigins(
  flags: Flags,
  environment: Environment = process.env,
): { readonly settings: Settings; readonly rows: ReturnType<typeof settingRows> } {
  const sources = { declarations: DECLARATIONS, fileSetting: CONFIG, flags, environment };
  const gathered = gatherSettings(sources);
  const { values, mistakes } = gathered;
  const origins = dropOverruled(gathered);
  mistakes.push(...sharedValues({ values, origins }, PORTS), ...sourceMistakes(values, origins));
  // The fetched data is served, regardless of the default.
  if (values['from'] !== undefined) values['data'] = values['cache'];
  if (values['follow'] !== undefined) values['data'] = path.join(String(values['state']), 'catalogue.snapshot');
  if (mistakes.length > 0) throw new OperationError('usage', mistakes.join('\n'));
  // Each declaration makes the value of its key, which the mapped type cannot express.
  return { settings: values as unknown as Settings, rows: settingRows(DECLARATIONS, { ...gathered, origins }) };
}

/** Removes the data source of environment and file if a flag names another one. Returns the remaining origins. */
function dropOverruled({ values, texts, origins }: Omit<ReturnType<typeof gatherSettings>, 'mistakes'>): Origins {
  const isFlag = (name: string): boolean => origins[name]?.startsWith('flag') === true;
  if (!isFlag('data') || ['from', 'follow'].some(isFlag)) return origins;
  const overruled = ['from', 'follow', 'maxStaleMs'].filter((name) => !isFlag(name));
  for (const name of overruled) {
    values[name] = undefined;
    delete texts[name];
  }
  return Object.fromEntries(Object.entries(origins).filter(([name]) => !overruled.includes(name)));
}

type Origins = Readonly<Record<string, string>>;

/** A container image may have set a variable that the operator did not. */
function dataCure(origin: string): string {
  const cure = 'fetches the data: leave one out';
  return origin.startsWith('environment') ? `${cure}, or set it empty` : cure;
}

function sourceMistakes(
  values: Readonly<Record<string, unknown>>,
  origins: Readonly<Record<string, string>>,
): readonly string[] {
  const source = ['from', 'follow'].find((name) => values[name] !== undefined);
  if (source === undefined) {
    const cure = 'needs from or follow, which define how fresh the data is';
    return origins['maxStaleMs'] === undefined ? [] : [`${origins['maxStaleMs']}: ${cure}`];
  }
  const mistake = (name: string, cure: string): string =>
    `${origins[name] ?? `setting ${name}`}: not beside ${source}, which ${cure}`;
  return [
    ...(origins['data'] === undefined ? [] : [mistake('data', dataCure(origins['data']))]),
    ...(source === 'from' && values['follow'] !== undefined
      ? [mistake('follow', 'fetches the data: leave one out')]
      : []),
    ...(values['watch'] === true ? [mistake('watch', 'checks for new data itself: remove it')] : []),
  ];
}
