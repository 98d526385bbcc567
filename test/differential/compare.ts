import type { Received } from '../support/client.ts';
import { partingLines, refusalLine } from './disagreements.ts';
import type { OracleAnswer, OracleRequest } from './oracle.ts';

const FIRST_REFUSAL = 400;

/** Lines that describe how a response differs from the expected one; empty when they agree. */
export function differencesOf(expected: OracleAnswer, received: Received): string[] {
  const differences: string[] = [];
  if (received.status !== expected.status) {
    const who = refusalLine(expected.status >= FIRST_REFUSAL, received.status >= FIRST_REFUSAL);
    differences.push(`status ${received.status}, not ${expected.status}: ${who}`);
  }
  for (const [name, value] of Object.entries(expected.headers)) {
    const actual = received.headers[name] ?? null;
    if (actual !== value) differences.push(`${name}: ${JSON.stringify(actual)}, not ${JSON.stringify(value)}`);
  }
  if (expected.body !== undefined && received.body !== expected.body) {
    differences.push('the body:', ...partingLines(expected.body, received.body));
  }
  return differences;
}

/** Reduces a request as long as server and oracle still differ. `differs` sends a candidate to both. */
export async function shrink(
  request: OracleRequest,
  differs: (smaller: OracleRequest) => Promise<boolean>,
): Promise<OracleRequest> {
  for (const smaller of smallerRequests(request)) if (await differs(smaller)) return shrink(smaller, differs);
  return request;
}

/** The request as a command to paste, for a server at `url`. */
export function curlOf(url: string, { method, target, headers }: OracleRequest): string {
  const flags = Object.entries(headers).map(([name, value]) => ` -H '${name}: ${value}'`);
  return `curl -sgi --path-as-is -X ${method}${flags.join('')} '${url}${target.replaceAll("'", '%27')}'`;
}

function smallerRequests(request: OracleRequest): OracleRequest[] {
  const [path = '', query] = request.target.split(/\?(.*)/s, 2);
  const parts = query === undefined ? [] : query.split('&');
  const without = (i: number): string => {
    const left = parts.filter((_, j) => j !== i).join('&');
    return left === '' ? path : `${path}?${left}`;
  };
  const smaller = parts.map((_, i): OracleRequest => ({ ...request, target: without(i) }));
  if (Object.keys(request.headers).length > 0) smaller.push({ ...request, headers: {} });
  if (request.method !== 'GET') smaller.push({ ...request, method: 'GET' });
  return smaller;
}
