import { COLLECTIONS } from '../../engine/shared.ts';
import { steadyMs } from '../observe/clock.ts';
import type { Report } from '../observe/events.ts';
import { bytesText, countText } from '../observe/quantities.ts';
import { GET_TRUSTED_HOST_INFO, SERVICE_PATH } from '../authority/soap/protocol.ts';
import { requestBytes } from '../authority/soap/requests.ts';
import { askServer } from './question.ts';

/** Responses take milliseconds. */
const ANSWER_MS_MAX = 10_000;
/** More than any page: a page of 100 records has 400 kB. */
const ANSWER_BYTES_MAX = 64 << 20;
/** The list with the most filters, with the server's page size. */
const LIST = `/api/v3/${COLLECTIONS.toSorted((a, b) => b.filters.length - a.filters.length)[0]!.name}/`;

/** Requests a list and, if there is an authority, one of its operations. Reports one line for each. */
export async function showFirstPage(origin: string, hasAuthority: boolean, report: Report): Promise<void> {
  const reachable = reachableOf(origin);
  const show = async (what: string, path: string, body?: Uint8Array): Promise<void> => {
    const outcome = await outcomeOf(reachable + path, body).catch((error: unknown) => `no answer (${String(error)})`);
    report(`asked itself for ${what}: ${outcome}  ${path}`);
  };
  await show('a list', LIST);
  if (hasAuthority)
    await show(`SOAP ${GET_TRUSTED_HOST_INFO.name}`, SERVICE_PATH, requestBytes(GET_TRUSTED_HOST_INFO, ['']));
}

/** For a server that listens on all addresses, the loopback address. */
function reachableOf(origin: string): string {
  return origin.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

async function outcomeOf(url: string, body: Uint8Array | undefined): Promise<string> {
  const startMs = steadyMs();
  const headers = body ? { 'Content-Type': 'text/xml' } : {};
  const bounds = { signal: AbortSignal.timeout(ANSWER_MS_MAX), bytesMax: ANSWER_BYTES_MAX };
  const answer = await askServer(new URL(url), { body, headers, ...bounds });
  if (!answer.body) throw new Error('the response is too long');
  const total = answer.headers['x-total-count'];
  const count = total === undefined ? '' : `${countText(Number(total))} records, `;
  const failure = answer.status === 200 ? '' : `, status ${answer.status}`;
  return `${count}${bytesText(answer.body.length)} in ${(steadyMs() - startMs).toFixed(1)} ms${failure}`;
}
