// What can be set, as plain data: what declarations.ts declares, setting by setting.
// Types only, so that no running program reads this file.

/** Everything that can be set. Undefined means: off, or decided where it is used (`baseUrl` follows the port taken). */
export interface Settings {
  readonly data: string;
  readonly watch: boolean;
  readonly follow: string | undefined;
  readonly everyMs: number;
  readonly sweepEveryMs: number;
  readonly state: string;
  readonly concurrency: number;
  readonly rate: number;
  readonly timeoutSeconds: number;
  readonly contact: string | undefined;
  readonly linksMin: number;
  readonly shrinkMax: number;
  readonly from: string | undefined;
  readonly pollMs: number;
  readonly cache: string;
  readonly allowRollback: boolean;
  readonly maxStaleMs: number | undefined;
  readonly natsCredentials: string | undefined;
  readonly natsCa: string | undefined;
  readonly natsReplicas: number;
  readonly s3Endpoint: string | undefined;
  readonly s3Region: string;
  readonly s3Addressing: 'path' | 'host' | undefined;
  readonly host: string;
  readonly port: number;
  readonly baseUrl: string | undefined;
  readonly allowBaseUrls: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly recordUrl: string | undefined;
  readonly links: 'spec' | 'request';
  readonly limitMax: number | undefined;
  readonly strict: boolean;
  readonly filterErrors: 'fail' | 'empty' | 'ignore';
  readonly filters: 'all' | 'documented';
  readonly explain: boolean;
  readonly browseOnApi: boolean;
  readonly pinWalks: boolean;
  readonly threads: number;
  readonly rowSetCacheMb: number;
  readonly answerCacheMb: number;
  readonly http10Port: number | undefined;
  readonly cors: boolean;
  readonly cacheControl: string;
  readonly gzip: 'stored' | 'live' | 'off';
  readonly serverTiming: boolean;
  readonly authority: string | undefined;
  readonly auditLog: string | undefined;
  readonly drainGraceSeconds: number;
  readonly drainSeconds: number;
  readonly adminHost: string;
  readonly adminPort: number | undefined;
  readonly soapBodyBytesMax: number;
  readonly logFormat: 'auto' | 'people' | 'json';
  readonly accessLog: string | undefined;
  readonly accessLogSample: number;
}
