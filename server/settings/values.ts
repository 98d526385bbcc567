// The kinds of values that settings have, each with its parser and the description used in error messages. Pure
// functions on text.
import ipaddr from 'ipaddr.js';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface ValueKind<V> {
  readonly placeholder: string;
  /** Completes the sentence `want ...`. */
  readonly wanted: string;
  readonly toml: 'string' | 'number' | 'boolean';
  /** Returns undefined for an invalid text; never throws. */
  parse(text: string): V | undefined;
}

/** An integer from `least` to `most`, both included; only decimal digits, no sign or blanks. */
export function integerBetween(least: number, most: number): ValueKind<number> {
  const upTo = most === Number.MAX_SAFE_INTEGER ? ' up' : ` to ${most}`;
  return {
    placeholder: '<number>',
    wanted: `an integer from ${least}${upTo}`,
    toml: 'number',
    parse(text) {
      const value = /^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN;
      return value >= least && value <= most ? value : undefined;
    },
  };
}

/** A number from `least` to `most`, both included, in plain decimal digits. */
export function numberBetween(least: number, most: number): ValueKind<number> {
  return {
    placeholder: '<number>',
    wanted: `a number from ${least} to ${most}`,
    toml: 'number',
    parse(text) {
      const value = /^[0-9]{1,9}(?:\.[0-9]{1,9})?$/.test(text) ? Number(text) : Number.NaN;
      return value >= least && value <= most ? value : undefined;
    },
  };
}

export function oneOf<const C extends string>(...choices: readonly C[]): ValueKind<C> {
  return {
    placeholder: `<${choices.join('|')}>`,
    wanted: choices.join(' or '),
    toml: 'string',
    parse: (text) => choices.find((choice) => choice === text),
  };
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export const DAY_MS = 86_400_000;

/** A duration: an integer and its unit, from `leastMs` to `mostMs`, both included. The value is in milliseconds. */
export function durationBetween(leastMs: number, mostMs: number): ValueKind<number> {
  return {
    placeholder: '<time>',
    wanted: `a time such as 500ms, 10s, 5m, 2h or 1d, from ${leastMs} ms to ${mostMs / 86_400_000} d`,
    toml: 'string',
    parse(text) {
      const [, digits, unit = ''] = /^([0-9]{1,12})(ms|s|m|h|d)$/.exec(text) ?? [];
      const value = Number(digits) * (UNITS_MS[unit] ?? Number.NaN);
      return value >= leastMs && value <= mostMs ? value : undefined;
    },
  };
}

/** A source of snapshots. `targetMistake` validates it, with error messages that hide its secrets. */
export const TARGET: ValueKind<string> = {
  placeholder: '<target>',
  wanted: 'the URL of a target',
  toml: 'string',
  parse: (text) => text || undefined,
};

export const SWITCH: ValueKind<boolean> = {
  placeholder: '',
  wanted: 'true or false (or 1 or 0)',
  toml: 'boolean',
  parse: (text) => (['true', '1'].includes(text) ? true : ['false', '0'].includes(text) ? false : undefined),
};

const SECONDS = /^\d{1,12}(?:\.\d{1,9})?$/;
const ISO_8601 = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?<zone>Z|[+-]\d\d:\d\d)?)?$/;

/** A time: seconds since 1970, or ISO 8601, in UTC if it has no zone. The value is in seconds since 1970. */
export const INSTANT: ValueKind<number> = {
  placeholder: '<time>',
  wanted: 'seconds since 1970, or a time such as 2026-01-31T12:00:00Z',
  toml: 'string',
  parse(text) {
    if (SECONDS.test(text)) return Number(text);
    const match = ISO_8601.exec(text);
    const isLocal = match !== null && match.groups?.['zone'] === undefined && text.includes('T');
    const milliseconds = match === null ? Number.NaN : Date.parse(isLocal ? `${text}Z` : text);
    return Number.isNaN(milliseconds) || !isDay(text.slice(0, 'YYYY-MM-DD'.length)) ? undefined : milliseconds / 1000;
  },
};

/** Whether the day exists: Date reads February 31 as a day in March. */
function isDay(text: string): boolean {
  return new Date(`${text}T00:00:00Z`).toISOString().startsWith(text);
}

/** A path of the file system. Whether it exists is checked when it is opened. */
export const PATH: ValueKind<string> = {
  placeholder: '<path>',
  wanted: 'the path of a directory or file',
  toml: 'string',
  parse: (text) => (text === '' || text.includes('\0') ? undefined : text),
};

const HOST_BYTES_MAX = 253;

/** An address or name to listen on; IPv6 without brackets. */
export const HOST: ValueKind<string> = {
  placeholder: '<address>',
  wanted: 'an IP address (IPv6 without brackets) or a host name',
  toml: 'string',
  parse: (text) => (/^[A-Za-z0-9._:%-]+$/.test(text) && text.length <= HOST_BYTES_MAX ? text : undefined),
};

/**
 * Makes a message safe to log: replaces users, passwords and query values in URLs by `…`. No setting accepts a URL with
 * any of them, but a rejected one may contain secrets.
 */
export function withoutSecrets(text: string): string {
  return text
    .replace(/(:\/\/)[^/?#\s]*@/g, '$1…@')
    .replace(/([?&][\w.%-]+=)[^&#\s"]+?(?=\)?[,.:;]?(?:[&#\s"]|$))/g, '$1…');
}

/** Every link of a page repeats the base URL. With a longer one, pages would consist mostly of it. */
const BASE_URL_BYTES_MAX = 256;

/** A normalised URL. Its characters need no escape in JSON or URLs, so links are made by copying bytes. */
export const BASE_URL: ValueKind<string> = {
  placeholder: '<url>',
  wanted:
    'an http or https URL of at most 256 printable ASCII characters, without quotes, user name, query or fragment ' +
    '(such as https://catalogue.example.org)',
  toml: 'string',
  parse(text) {
    if (
      text.length > BASE_URL_BYTES_MAX ||
      !/^https?:\/\/(?!\/)([A-Za-z0-9._~:/[\]!$&()*+,;=-]|%[0-9A-Fa-f]{2})+$/i.test(text)
    ) {
      return undefined;
    }
    const url = URL.canParse(text) ? new URL(text) : undefined;
    return url && url.origin + url.pathname.replace(/\/+$/, '');
  },
};

/** Example values of the names that a template may contain. */
const TEMPLATE_NAMES: Readonly<Record<string, string>> = { uuid: '0f', id: '1', collection: 'a' };

/**
 * A template for the address of a record's page. After the host, names in braces represent values of the record; id or
 * uuid is required. The other characters are those of a base URL, plus query and fragment.
 */
export const RECORD_URL: ValueKind<string> = {
  placeholder: '<template>',
  wanted:
    'an http or https URL of at most 256 printable ASCII characters with {id} or {uuid} after its host, and no ' +
    'other braces except {collection} (such as https://catalogue.example.org/uuid/{uuid})',
  toml: 'string',
  parse(text) {
    if (text.length > BASE_URL_BYTES_MAX || !/^https?:\/\/[^/{}?#@]+\/[!#-;=?-[\]_a-~]*$/i.test(text)) return undefined;
    if (!/\{(?:uuid|id)\}/.test(text)) return undefined;
    const example = text.replace(/\{(\w+)\}/g, (braces, name: string) => TEMPLATE_NAMES[name] ?? braces);
    return !/[{}]/.test(example) && URL.canParse(example) ? text : undefined;
  },
};

export const REGION: ValueKind<string> = {
  placeholder: '<region>',
  wanted: 'the name of a region (such as eu-west-2), of lower-case letters, digits and hyphens',
  toml: 'string',
  parse: (text) => (/^[a-z0-9-]{1,32}$/.test(text) ? text : undefined),
};

/** A network in normalised CIDR notation. A single address is a network of one. */
export const NETWORK: ValueKind<string> = {
  placeholder: '<cidr>',
  wanted: 'a network in CIDR notation (such as 10.0.0.0/8 or fd00::/8) or a single IP address',
  toml: 'string',
  parse(text) {
    const [address = '', length] = text.split('/', 2);
    // ipaddr.js also accepts forms such as 0x7f.1, which are errors in a list of trusted networks.
    const isPlain = address.includes(':') ? ipaddr.IPv6.isValid(address) : ipaddr.IPv4.isValidFourPartDecimal(address);
    if (!isPlain || address.includes('%')) return undefined;
    const network = `${address}/${length ?? (address.includes(':') ? 128 : 32)}`;
    return text.split('/').length <= 2 && ipaddr.isValidCIDR(network) ? network : undefined;
  },
};

/** Directives of Cache-Control without quoted values. Source: RFC 9111, 5.2. */
export const CACHE_CONTROL: ValueKind<string> = {
  placeholder: '<text>',
  wanted: 'directives of Cache-Control, separated by commas (such as public, max-age=60)',
  toml: 'string',
  parse(text) {
    const directives = text.split(',').map((directive) => directive.trim());
    const isWhole = directives.every((directive) => /^[A-Za-z0-9_-]+(=[A-Za-z0-9_-]+)?$/.test(directive));
    return isWhole ? directives.join(', ') : undefined;
  },
};

/** A generation, or enough of its first digits. */
export const GENERATION: ValueKind<string> = {
  placeholder: '<generation>',
  wanted: 'a generation, or its first 8 digits or more',
  toml: 'string',
  parse: (text) => (/^[0-9a-f]{8,64}$/.test(text) ? text : undefined),
};

/** The operator of a crawl, for the User-Agent. */
export const CONTACT: ValueKind<string> = {
  placeholder: '<text>',
  wanted: 'an address or URL of at most 200 printable ASCII characters',
  toml: 'string',
  parse: (text) => (/^[\x21-\x7e]{1,200}$/.test(text) ? text : undefined),
};

/** The name of a site as people read it, on one line. */
export const SITE_NAME: ValueKind<string> = {
  placeholder: '<text>',
  wanted: 'a name of 1 to 100 characters on one line',
  toml: 'string',
  parse(text) {
    const name = text.trim();
    return /^[^\p{C}\u2028\u2029]{1,100}$/u.test(name) ? name : undefined;
  },
};

/** The address of a web page, kept as it is written. */
export const WEB_ADDRESS: ValueKind<string> = {
  placeholder: '<url>',
  wanted: 'an http or https URL of at most 256 printable ASCII characters, without quotes or user name',
  toml: 'string',
  parse(text) {
    if (text.length > BASE_URL_BYTES_MAX || !/^https?:\/\/[^/@]+(?:\/[!#-&(-;=?-[\]_a-~]*)?$/i.test(text))
      return undefined;
    return URL.canParse(text) ? text : undefined;
  },
};

const ROOT = new URL(import.meta.url.endsWith('.ts') ? '../../' : '../../../', import.meta.url);

/** The absolute path of a file or folder of the installation. Does not access the disk. */
export function installed(path: string): string {
  return fileURLToPath(new URL(path, ROOT));
}

let version: string | undefined;

/**
 * The version of the program. Read once from package.json, because an upgrade may replace that file while the old
 * version still runs.
 */
export function packageVersion(): string {
  version ??= (JSON.parse(readFileSync(installed('package.json'), 'utf8')) as { readonly version: string }).version;
  return version;
}
