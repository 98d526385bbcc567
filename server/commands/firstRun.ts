// The output of a server on a terminal: two requests to itself at the start, and at the end the totals of its answers.
// Requests go to this server alone, on loopback or the address it listens on.
import { COLLECTIONS } from '../../engine/shared.ts';
import { steadyMs } from '../observe/clock.ts';
import type { Report } from '../observe/events.ts';
import { bytesText, countText } from '../observe/quantities.ts';
import { newTally } from '../observe/tally.ts';
import { answerTotals, requestTallies, type RequestTallies } from '../process/requestTallies.ts';
import { GET_TRUSTED_HOST_INFO, SERVICE_PATH } from '../authority/soap/protocol.ts';
import { requestBytes } from '../authority/soap/requests.ts';
import { askServer } from './question.ts';

/** A response takes milliseconds. */
const ANSWER_MS_MAX = 10_000;
/** More than any page: one of 100 records has 400 kB. */
const ANSWER_BYTES_MAX = 64 << 20;
/** The list with the most filters, with the page size of the server. */
const LIST = `/api/v3/${COLLECTIONS.toSorted((a, b) => b.filters.length - a.filters.length)[0]!.name}/`;

/** The first run of one server, whose threads count in the tallies that it gives or is shown. */
export class FirstRun {
  readonly #report: Report;
  readonly #tallies: RequestTallies[] = [];

  constructor(report: Report) {
    this.#report = report;
  }

  /** The tallies of one more thread: `known` if the metrics have them, else new ones. */
  tallies(known: RequestTallies | undefined): RequestTallies {
    const made = known ?? requestTallies(newTally);
    this.#tallies.push(made);
    return made;
  }

  /** Requests a list and, if there is an authority, an operation of it. Reports a line for each. */
  async ask(origin: string, hasAuthority: boolean): Promise<void> {
    const reachable = reachableOf(origin);
    await this.#show('a list', reachable, LIST);
    if (!hasAuthority) return;
    const { name, parts } = GET_TRUSTED_HOST_INFO;
    const texts = parts.map(() => '');
    await this.#show(`SOAP ${name}`, reachable, SERVICE_PATH, requestBytes(GET_TRUSTED_HOST_INFO, texts));
  }

  /** The responses since the start, for the last line. */
  totals(): string {
    const { answers, abandoned, bytes, p50, p99 } = answerTotals(this.#tallies);
    const left = abandoned === 0 ? '' : `, ${countText(abandoned)} left before`;
    const times = answers === 0 ? '' : `: ${bytesText(bytes)}, p50 ${withinText(p50)}, p99 ${withinText(p99)}`;
    return `answered ${countText(answers)} request${answers === 1 ? '' : 's'}${times}${left}`;
  }

  async #show(what: string, origin: string, path: string, body?: Uint8Array): Promise<void> {
    const outcome = await outcomeOf(origin + path, body).catch((error: unknown) => `no answer (${String(error)})`);
    this.#report(`asked itself for ${what}: ${outcome}  ${path}`);
  }
}

/** The address to ask at: of a server that listens on all addresses, that of loopback. */
function reachableOf(origin: string): string {
  return origin.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

function withinText(seconds: number): string {
  return seconds === Infinity ? 'over 10 s' : `within ${seconds * 1000} ms`;
}

async function outcomeOf(url: string, body: Uint8Array | undefined): Promise<string> {
  const startMs = steadyMs();
  const headers = body ? { 'Content-Type': 'text/xml' } : {};
  const bounds = { signal: AbortSignal.timeout(ANSWER_MS_MAX), bytesMax: ANSWER_BYTES_MAX };
  const answer = await askServer(new URL(url), { body, headers, ...bounds });
  if (!answer.body) throw new Error('the answer is too long');
  const total = answer.headers['x-total-count'];
  const count = total === undefined ? '' : `${countText(Number(total))} records, `;
  const failure = answer.status === 200 ? '' : `, status ${answer.status}`;
  return `${count}${bytesText(answer.body.length)} in ${(steadyMs() - startMs).toFixed(1)} ms${failure}`;
}
