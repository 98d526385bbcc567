// The settings about the catalogue that is crawled or followed: rows of the table in declarations.ts, of which crawl
// and follow have flags too, and the words that hand them on.
import { flagName, named, one, type ValuesOf } from './sources.ts';
import { BASE_URL, CONTACT, DAY_MS, durationBetween, integerBetween, numberBetween, PATH, SWITCH } from './values.ts';

const PERIOD = durationBetween(1000, 7 * DAY_MS);
const PERCENT = numberBetween(0, 100);

/** Rows about every crawl. */
const CRAWLING = named({
  concurrency: one(integerBetween(1, 4), 2, { help: 'requests at a time to a catalogue that is crawled, 1 to 4' }),
  rate: one(numberBetween(0.01, 1000), 10, { help: 'requests a second to it at most' }),
  timeoutSeconds: one(numberBetween(0.01, 600), 30, {
    name: 'timeout',
    help: 'seconds that one of its answers may take',
  }),
  contact: one(CONTACT, undefined, {
    help: 'who crawls it, for the User-Agent: an address or URL',
    initialText: 'none',
  }),
  linksMin: one(PERCENT, 99.9, { help: 'percentage of its links that must lead to a record' }),
  shrinkMax: one(PERCENT, 5, { help: 'percentage of records that one of its collections may lose' }),
});

/** How a catalogue is crawled. */
export type CrawlSettings = ValuesOf<typeof CRAWLING>;

/** Rows of the table of settings. */
export const FOLLOW_SETTINGS = named({
  follow: one(BASE_URL, undefined, {
    help: 'base URL of the catalogue to serve a replica of, kept fresh in --state; POST /refresh does it at once',
  }),
  everyMs: one(PERIOD, 900_000, {
    name: 'every',
    help: 'time from one refresh of what is followed to the next, which asks for what changed',
    initialText: '15m',
  }),
  sweepEveryMs: one(PERIOD, DAY_MS, {
    name: 'sweepEvery',
    help: 'time after which a refresh reads everything anew',
    initialText: '1d',
  }),
  lenient: one(SWITCH, false, {
    help: 'leave records out that are no such records, of what is followed or of a directory, instead of refusing all',
  }),
  state: one(PATH, 'catalogue.follow', { help: 'with --follow, folder of the replica' }),
  ...CRAWLING,
});

/** The settings that crawl has too, by their names. */
export const CRAWL_FLAGS: readonly string[] = [...Object.values(CRAWLING).map(({ name }) => name), 'config'];

/** Those that follow has. */
export const FOLLOW_FLAGS: readonly string[] = [...CRAWL_FLAGS, 'every', 'sweepEvery', 'lenient'];

/** The flags that give a process that follows once all that it heeds, whatever its environment holds. */
export function crawlWords(settings: ValuesOf<typeof FOLLOW_SETTINGS>): readonly string[] {
  const { sweepEveryMs, lenient } = settings;
  const words = Object.entries(CRAWLING).flatMap(([key, setting]) => {
    const value = settings[key as keyof CrawlSettings];
    return value === undefined ? [] : [flagName(setting), String(value)];
  });
  const leniently = lenient ? [flagName(FOLLOW_SETTINGS.lenient)] : [];
  return [...words, flagName(FOLLOW_SETTINGS.sweepEveryMs), `${sweepEveryMs}ms`, ...leniently];
}
