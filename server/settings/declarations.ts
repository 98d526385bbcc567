// The settings, declared once: flags, environment names, TOML keys, defaults, help and the README table derive from the
// table in this file, and so does the type of their values. The only file that sees the process environment. To add a
// setting: a row in DECLARATIONS, the line the tidy test then asks for in README.md beside this.
import { availableParallelism } from 'node:os';
import path from 'node:path';
import type { TargetAccess } from '../../data/distribution/target.ts';
import { OperationError } from '../../data/operationError.ts';
import {
  BASE_URL,
  CACHE_CONTROL,
  HOST,
  installed,
  integerBetween,
  NETWORK,
  oneOf,
  PATH,
  RECORD_URL,
  SWITCH,
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
/** Listeners need a port each; any number of them may take a free one. */
const PORTS = ['port', 'http10Port', 'adminPort'];
/** More serving threads than any machine has cores is a slip of the finger. */
const THREADS_MAX = 1024;
/** A terabyte: more is a slip of the finger too. */
const CACHE_MB_MAX = 1_000_000;
/** An hour: nobody waits longer for a process to end. */
const SECONDS_MAX = 3600;
/** All that a listener sets aside for unfinished bodies. */
const SOAP_BODY_BYTES_MAX = 64 << 20;
/** Fewer lines are no log. */
const SAMPLE_MAX = 1_000_000;
/** The data that is served where nothing else is named. */
export const SAMPLE: string = installed('data/sample');

const DECLARATIONS = named({
  data: one(PATH, SAMPLE, {
    help: 'snapshot file, or directory of <collection>.ndjson[.gz] files, to serve',
    initialText: 'the embedded sample',
  }),
  watch: one(SWITCH, false, {
    help: 'take new data as soon as what --data names is replaced; without it on SIGHUP and POST /reload only',
  }),
  ...FOLLOW_SETTINGS,
  ...TARGET_SETTINGS,
  host: one(HOST, '127.0.0.1', { help: 'address to listen on' }),
  port: one(PORT, 8080, { help: 'port to listen on; 0 takes a free one and prints it' }),
  baseUrl: one(BASE_URL, undefined, {
    help: 'start of every link in the answers',
    initialText: 'http://localhost:<port>',
  }),
  allowBaseUrls: many(BASE_URL, {
    name: 'allowBaseUrl',
    help: 'further base URL, used when the Host of a request (or X-Forwarded-Host and -Proto of a trusted proxy) names it',
  }),
  trustedProxies: many(NETWORK, {
    name: 'trustedProxy',
    help: 'network whose X-Forwarded-Host, X-Forwarded-Proto and X-Request-Id are believed',
  }),
  recordUrl: one(RECORD_URL, undefined, {
    help: 'page of a record for people, in answers to look-ups by path: a URL with {uuid}, {id} and {collection}',
    initialText: 'the browse page',
  }),
  links: one(oneOf('spec', 'request'), 'spec', {
    help: 'links in records: always with ?format=api, or in the form of the request',
  }),
  limitMax: one(integerBetween(1, Number.MAX_SAFE_INTEGER), undefined, {
    help: 'largest page; a larger limit is lowered to it',
    initialText: 'no bound',
  }),
  strict: one(SWITCH, false, { help: 'answer 400 to unknown parameters instead of ignoring them' }),
  filterErrors: one(oneOf('fail', 'empty', 'ignore'), 'fail', {
    help: 'a filter that cannot be applied: answers 400, matches nothing, or is ignored',
  }),
  filters: one(oneOf('all', 'documented'), 'all', { help: 'filter on every field, or only on the documented ones' }),
  explain: one(SWITCH, false, {
    help: 'let clients ask by explain=1 how a list is found: plan, estimates, work',
  }),
  browseOnApi: one(SWITCH, false, { help: 'show browsers a page at every path of the API' }),
  pinWalks: one(SWITCH, false, {
    help: 'links between pages name the generation of the data, and a list of another one is answered 410',
  }),
  threads: one(integerBetween(1, THREADS_MAX), Math.min(availableParallelism(), THREADS_MAX), {
    help: 'serving threads',
    initialText: 'number of cores',
  }),
  rowSetCacheMb: one(integerBetween(0, CACHE_MB_MAX), 32, {
    help: 'memory of each serving thread for rows that filters found, in MB, so that a walk finds them once; 0 keeps none',
  }),
  answerCacheMb: one(integerBetween(0, CACHE_MB_MAX), 4, {
    help: 'memory of each serving thread for pages and records that are asked for again, in MB; they hold no records; 0 keeps none',
  }),
  http10Port: one(PORT, undefined, {
    help: 'second port, for HTTP/1.0 and unusual clients; 0 takes a free one',
  }),
  cors: one(SWITCH, true, { help: 'allow browsers of any origin to read' }),
  cacheControl: one(CACHE_CONTROL, 'public, no-cache', { help: 'Cache-Control of what is found, and of redirections' }),
  gzip: one(oneOf('stored', 'live', 'off'), 'stored', {
    help: 'gzip for clients that take it: from records compressed before the server is ready, only while they wait, or never',
  }),
  serverTiming: one(SWITCH, false, {
    help: 'tell in the header Server-Timing how long each answer took, not only the wait for the pool',
  }),
  authority: one(PATH, undefined, {
    help: 'TOML file of the attribute authority to serve beside the catalogue',
    initialText: 'a demonstration with the embedded sample, else off',
  }),
  auditLog: one(PATH, undefined, {
    help: 'file for the decisions of the attribute authority, in lines of JSON; - is standard output',
    initialText: 'standard output',
  }),
  drainGraceSeconds: one(integerBetween(0, SECONDS_MAX), 1, {
    help: 'how long a server that was told to stop goes on serving, and tells clients to leave, in seconds',
  }),
  drainSeconds: one(integerBetween(0, SECONDS_MAX), 30, {
    help: 'how long answers in flight may take to finish after that, in seconds',
  }),
  replacedSeconds: one(integerBetween(1, 24 * SECONDS_MAX), 300, {
    help: 'time for answers under way from data that was replaced, in seconds; then their connections are closed',
  }),
  adminHost: one(HOST, '127.0.0.1', { help: 'address of the admin port' }),
  adminPort: one(PORT, undefined, {
    help: 'port for operators: GET /livez, /readyz, /metrics (Prometheus), /status; 0 takes a free one',
  }),
  soapBodyBytesMax: one(integerBetween(1024, SOAP_BODY_BYTES_MAX), 1_048_576, {
    help: 'longest SOAP request to the attribute authority, in bytes',
  }),
  logFormat: one(oneOf('auto', 'people', 'json'), 'auto', {
    help: 'what the server tells of itself: lines for people, or JSON with time and level; auto is people on a terminal',
  }),
  accessLog: one(PATH, undefined, {
    help: 'file that requests are appended to, a line of JSON each; reopened on SIGUSR2; - is standard output',
  }),
  accessLogSample: one(integerBetween(1, SAMPLE_MAX), 1, { help: 'one request in so many is logged' }),
});

/** Everything that can be set. Undefined means: off, or decided where it is used (`baseUrl` follows the port taken). */
export type Settings = ValuesOf<typeof DECLARATIONS>;

const { config: CONFIG } = named({
  config: one(PATH, undefined, {
    help: 'TOML file of settings, keys as in server/settings/README.md',
    initialText: 'none',
  }),
});

/** All settings in the order of help and README. `config`, which names the file, cannot itself stand in the file. */
export const SETTINGS: readonly Setting<unknown>[] = [...Object.values(DECLARATIONS), CONFIG];

/**
 * The settings of this process: flag, else environment, else TOML file, else default. Throws OperationError `usage`
 * that lists every wrong value with its source and what is wanted, and `file` when the TOML file cannot be read.
 */
export function readSettings(flags: Flags, environment: Environment = process.env): Settings {
  return readOrigins(flags, environment).settings;
}

/**
 * Who this process is to the targets of its settings. Keys of S3 have no setting: they come from the environment that
 * other programs for S3 read, and nothing shows them.
 */
export function targetAccess(settings: Settings, environment: Environment = process.env): TargetAccess {
  return targetAccessOf(settings, environment);
}

/** The settings, and a row of each for people, see settingRows. Throws as readSettings does. */
export function readOrigins(
  flags: Flags,
  environment: Environment = process.env,
): { readonly settings: Settings; readonly rows: ReturnType<typeof settingRows> } {
  const sources = { declarations: DECLARATIONS, fileSetting: CONFIG, flags, environment };
  const gathered = gatherSettings(sources);
  const { values, mistakes } = gathered;
  const origins = overrule(gathered);
  mistakes.push(...sharedValues({ values, origins }, PORTS), ...sourceMistakes(values, origins));
  // The data is what is fetched, wherever the default would lead.
  if (values['from'] !== undefined) values['data'] = values['cache'];
  if (values['follow'] !== undefined) values['data'] = path.join(String(values['state']), 'catalogue.snapshot');
  if (mistakes.length > 0) throw new OperationError('usage', mistakes.join('\n'));
  // One value per key of DECLARATIONS, made by the declaration of that key; its mapped type ties the two.
  return { settings: values as unknown as Settings, rows: settingRows(DECLARATIONS, { ...gathered, origins }) };
}

/**
 * Unsets what environment and file say of where the data comes from, where a flag names it; answers the origins of what
 * counts then.
 */
function overrule({ values, texts, origins }: Omit<ReturnType<typeof gatherSettings>, 'mistakes'>): Origins {
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

/** An image may have set a variable that nobody here did. */
function dataCure(origin: string): string {
  const cure = 'fetches the data: leave one out';
  return origin.startsWith('environment') ? `${cure}, or set it empty` : cure;
}

/** What is wrong where data is to come from more than one place. */
function sourceMistakes(
  values: Readonly<Record<string, unknown>>,
  origins: Readonly<Record<string, string>>,
): readonly string[] {
  const source = ['from', 'follow'].find((name) => values[name] !== undefined);
  if (source === undefined) {
    const cure = 'only beside from or follow, which say how fresh the data is';
    return origins['maxStaleMs'] === undefined ? [] : [`${origins['maxStaleMs']}: ${cure}`];
  }
  const mistake = (name: string, cure: string): string =>
    `${origins[name] ?? `setting ${name}`}: not beside ${source}, which ${cure}`;
  return [
    ...(origins['data'] === undefined ? [] : [mistake('data', dataCure(origins['data']))]),
    ...(source === 'from' && values['follow'] !== undefined
      ? [mistake('follow', 'fetches the data: leave one out')]
      : []),
    ...(values['watch'] === true ? [mistake('watch', 'looks for new data by itself: leave it out')] : []),
  ];
}
