// What a server shows whoever started it on a terminal: its pages, answers to requests that it makes of itself, and
// at its end what it has answered. Never read where the output is no terminal; asks nothing but this server, on
// loopback or the address it listens on.
import { COLLECTIONS } from '../../engine/shared.ts';
import { steadyMs } from '../observe/clock.ts';
import type { Report } from '../observe/events.ts';
import { bytesText, countText } from '../observe/quantities.ts';
import { newTally } from '../observe/tally.ts';
import { answerTotals, requestTallies, type RequestTallies } from '../threads/requestTallies.ts';
import type { Settings } from '../settings/declarations.ts';
import { GET_TRUSTED_HOST_INFO, SERVICE_PATH } from '../soap/protocol.ts';
import { requestBytes } from '../soap/requests.ts';
import { askServer } from './question.ts';

/** An answer takes milliseconds; of one that does not come a line says so. */
const ANSWER_MS_MAX = 10_000;
/** Of an answer no more is read: a page of 100 is 400 kB. */
const ANSWER_BYTES_MAX = 64 << 20;
/** Records that are asked for, unless the server gives fewer. */
const PAGE = 100;

/** The list with most to filter by, and a field of it with few values. */
const COLLECTION = COLLECTIONS.toSorted((a, b) => b.filters.length - a.filters.length)[0]!;
const LIST = `/api/v3/${COLLECTION.name}/`;
const FACET = COLLECTION.fields.find((field) => field.kind === 'scalar' && field.values !== undefined)!.name;

interface Asked {
  readonly status: number;
  readonly bytes: number;
  readonly total: number;
  readonly ms: number;
}

/** The first run of one server, whose threads count in the tallies that it gives or is shown. */
export class FirstRun {
  readonly #report: Report;
  readonly #page: number;
  readonly #tallies: RequestTallies[] = [];

  /** `limitMax` is the most that the server gives in a page: more may be refused. */
  constructor(report: Report, { limitMax = PAGE }: Pick<Settings, 'limitMax'>) {
    this.#report = report;
    this.#page = Math.min(PAGE, limitMax);
  }

  /** Those of one more thread: `known` where the metrics have them, else new ones. */
  tallies(known: RequestTallies | undefined): RequestTallies {
    const made = known ?? requestTallies(newTally);
    this.#tallies.push(made);
    return made;
  }

  /** Asks for a page, the last page, a facet and, where there is an authority, an operation of it: a line each. */
  async ask(origin: string, hasAuthority: boolean): Promise<void> {
    const reachable = reachableOf(origin);
    const first = await this.#show('a list', reachable, `${LIST}?limit=${this.#page}`);
    if (!first) return;
    const offset = Math.max(0, first.total - this.#page);
    await this.#show('its last page', reachable, `${LIST}?limit=${this.#page}&offset=${offset}`);
    await this.#show('a facet', reachable, `${LIST}?limit=1&facets=${FACET}`);
    if (!hasAuthority) return;
    const { name, parts } = GET_TRUSTED_HOST_INFO;
    const body = requestBytes(
      GET_TRUSTED_HOST_INFO,
      parts.map(() => ''),
    );
    await this.#show(`SOAP ${name}`, reachable, SERVICE_PATH, body);
  }

  /** What was answered since the start, to be told at the end. */
  totals(): string {
    const { answers, abandoned, bytes, p50, p99 } = answerTotals(this.#tallies);
    const left = abandoned === 0 ? '' : `, ${countText(abandoned)} left before`;
    const times = answers === 0 ? '' : `: ${bytesText(bytes)}, p50 ${withinText(p50)}, p99 ${withinText(p99)}`;
    return `answered ${countText(answers)} request${answers === 1 ? '' : 's'}${times}${left}`;
  }

  /** Asks, and says what came; undefined where nothing did. */
  async #show(what: string, origin: string, path: string, body?: Uint8Array): Promise<Asked | undefined> {
    const asked = await askedOf(origin + path, body).catch((error: unknown) => String(error));
    if (typeof asked === 'string') {
      this.#report(`asked itself for ${what}: no answer (${asked})`);
      return undefined;
    }
    const { status, bytes, total, ms } = asked;
    const count = Number.isNaN(total) ? '' : `${countText(total)} records, `;
    const failure = status === 200 ? '' : `, status ${status}`;
    this.#report(`asked itself for ${what}: ${count}${bytesText(bytes)} in ${ms.toFixed(1)} ms${failure}  ${path}`);
    return asked;
  }
}

/** The address to ask at: of a server that listens on all addresses, that of loopback. */
function reachableOf(origin: string): string {
  return origin.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

function withinText(seconds: number): string {
  return seconds === Infinity ? 'over 10 s' : `within ${seconds * 1000} ms`;
}

async function askedOf(url: string, body: Uint8Array | undefined): Promise<Asked> {
  const startMs = steadyMs();
  const headers = body ? { 'Content-Type': 'text/xml' } : {};
  const bounds = { signal: AbortSignal.timeout(ANSWER_MS_MAX), bytesMax: ANSWER_BYTES_MAX };
  const answer = await askServer(new URL(url), { body, headers, ...bounds });
  if (!answer.body) throw new Error('the answer is too long');
  const total = Number(answer.headers['x-total-count'] ?? Number.NaN);
  return { status: answer.status, bytes: answer.body.length, total, ms: steadyMs() - startMs };
}
