// The settings about the catalogue that is crawled or followed: rows of the table in declarations.ts, of which crawl
// and follow have flags too, and the words that hand them on.
import type { Settings } from './settings.ts';
import { flagName, one, type Setting } from './sources.ts';
import { BASE_URL, CONTACT, DAY_MS, durationBetween, integerBetween, numberBetween, PATH } from './values.ts';

type CrawlSetting = 'concurrency' | 'rate' | 'timeoutSeconds' | 'contact' | 'linksMin' | 'shrinkMax';
type FollowSetting = CrawlSetting | 'follow' | 'everyMs' | 'sweepEveryMs' | 'state';

/** How a catalogue is crawled. */
export type CrawlSettings = Pick<Settings, CrawlSetting>;

const PERIOD = durationBetween(1000, 7 * DAY_MS);
const PERCENT = numberBetween(0, 100);

/** Rows about every crawl. */
const CRAWLING: { readonly [K in CrawlSetting]: Setting<Settings[K]> } = {
  concurrency: one(
    {
      name: 'concurrency',
      kind: integerBetween(1, 4),
      help: 'requests at a time to a catalogue that is crawled, 1 to 4',
    },
    2,
  ),
  rate: one({ name: 'rate', kind: numberBetween(0.01, 1000), help: 'requests a second to it at most' }, 10),
  timeoutSeconds: one(
    { name: 'timeout', kind: numberBetween(0.01, 600), help: 'seconds that one of its answers may take' },
    30,
  ),
  contact: one(
    {
      name: 'contact',
      kind: CONTACT,
      help: 'who crawls it, for the User-Agent: an address or URL',
      initialText: 'none',
    },
    undefined,
  ),
  linksMin: one({ name: 'linksMin', kind: PERCENT, help: 'percentage of its links that must lead to a record' }, 99.9),
  shrinkMax: one(
    { name: 'shrinkMax', kind: PERCENT, help: 'percentage of records that one of its collections may lose' },
    5,
  ),
};

/** Rows of the table of settings. */
export const FOLLOW_SETTINGS: { readonly [K in FollowSetting]: Setting<Settings[K]> } = {
  follow: one(
    {
      name: 'follow',
      kind: BASE_URL,
      help: 'base URL of the catalogue to serve a replica of, kept fresh in --state; POST /refresh does it at once',
      initialText: 'off',
    },
    undefined,
  ),
  everyMs: one(
    {
      name: 'every',
      kind: PERIOD,
      help: 'time from one refresh of what is followed to the next, which asks for what changed',
      initialText: '15m',
    },
    900_000,
  ),
  sweepEveryMs: one(
    { name: 'sweepEvery', kind: PERIOD, help: 'time after which a refresh reads everything anew', initialText: '1d' },
    DAY_MS,
  ),
  state: one({ name: 'state', kind: PATH, help: 'with --follow, folder of the replica' }, 'catalogue.follow'),
  ...CRAWLING,
};

/** The settings that crawl has too, by their names. */
export const CRAWL_FLAGS: readonly string[] = [...Object.values(CRAWLING).map(({ name }) => name), 'config'];

/** Those that follow has. */
export const FOLLOW_FLAGS: readonly string[] = [...CRAWL_FLAGS, 'every', 'sweepEvery'];

/** The flags that give a process that follows once what is set here. */
export function crawlWords(settings: Settings): readonly string[] {
  const { sweepEveryMs } = settings;
  const words = Object.entries(CRAWLING).flatMap(([key, setting]) => {
    const value = settings[key as CrawlSetting];
    return value === undefined ? [] : [flagName(setting), String(value)];
  });
  return [...words, flagName(FOLLOW_SETTINGS.sweepEveryMs), `${sweepEveryMs}ms`];
}
