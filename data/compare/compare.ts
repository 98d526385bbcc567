// Sends the same requests to an upstream and to its replica and collects the differences.
import { setTimeout as wait } from 'node:timers/promises';
import { readBytesWithin } from '../boundedBytes.ts';
import { type Connections, connectionsTo } from '../connections.ts';
import { OperationError } from '../operationError.ts';
import { tlsFailureText } from '../tls.ts';
import {
  type Cause,
  type ComparedResponse,
  countIn,
  type Difference,
  differencesBetween,
  type UnfilteredCounts,
} from './differences.ts';

const BODY_BYTES_MAX = 64 << 20;
/** Maximum number of attempts if the connection fails or the status is temporary. */
const TRIES = 3;
const WAIT_MS = 1000;
const PASSING = [429, 502, 503, 504];

/** `rate` is in requests a second to each server. `clock` is monotonic, in milliseconds. */
export interface CompareOptions {
  readonly concurrency: number;
  readonly rate: number;
  readonly timeoutMs: number;
  readonly userAgent: string;
  readonly clock: () => number;
}

/** Examples of each cause in the report. */
const EXAMPLES_MAX = 3;

/** The requests that differ for one cause. */
export interface CauseGroup {
  readonly cause: Cause;
  requests: number;
  readonly examples: (Pick<Difference, 'upstream' | 'replica'> & { readonly path: string })[];
}

/** The result of a comparison. A request with several differences counts once in `different`. */
export interface Comparison {
  readonly compared: number;
  readonly different: number;
  readonly groups: readonly CauseGroup[];
}

/** A server that is compared. Close it at the end. */
export class ComparedServer {
  readonly #base: string;
  readonly #options: CompareOptions;
  readonly #connections: Connections;
  #linkBase: string | undefined;

  constructor(base: string, options: CompareOptions) {
    this.#base = base;
    this.#options = options;
    this.#connections = connectionsTo(new URL(base).origin, options.timeoutMs, options.concurrency);
  }

  /** Learns the base URL of the links, which may differ from the address. Throws OperationError `network`. */
  async open(): Promise<void> {
    const { status, body } = await this.response('/api/v3/');
    const [, linkBase] = /"(https?:\/\/[^"]*?)\/api\/v3\//.exec(body) ?? [];
    if (status !== 200 || linkBase === undefined) {
      throw new OperationError('network', `${this.#base}/api/v3/: no root view of this API (status ${status})`);
    }
    this.#linkBase = linkBase;
  }

  async close(): Promise<void> {
    await this.#connections.destroy();
  }

  /** The response to a path below the base URL. Redirections are not followed. Throws OperationError `network`. */
  async response(path: string): Promise<ComparedResponse> {
    for (let attempts = 1; ; attempts++) {
      try {
        const response = await this.#send(path);
        if (attempts === TRIES || !PASSING.includes(response.status)) return response;
      } catch (error) {
        const tlsFailure = tlsFailureText(error);
        if (attempts === TRIES || tlsFailure !== undefined) {
          throw new OperationError('network', `${this.#base}${path}: ${tlsFailure ?? (error as Error).message}`, error);
        }
      }
      await wait(WAIT_MS);
    }
  }

  async #send(path: string): Promise<ComparedResponse> {
    const { pathname, search } = new URL(this.#base + path);
    const headers = { accept: '*/*', 'user-agent': this.#options.userAgent };
    const signal = AbortSignal.timeout(this.#options.timeoutMs);
    const response = await this.#connections.request({ method: 'GET', path: pathname + search, headers, signal });
    const bytes = await readBytesWithin(response.body, BODY_BYTES_MAX);
    if (!bytes) throw new OperationError('network', `a body of more than ${BODY_BYTES_MAX} bytes`);
    const header = (name: string): string => [response.headers[name] ?? ''].flat().join(', ');
    const text = bytes.toString('utf8');
    return {
      status: response.statusCode,
      contentType: header('content-type'),
      allow: header('allow'),
      vary: header('vary'),
      body: this.#linkBase === undefined ? text : text.replaceAll(this.#linkBase, '{base_url}'),
    };
  }
}

/** Compares the responses of two servers to these paths. Throws OperationError `network` if one does not respond. */
export async function compareServers(
  upstream: ComparedServer,
  replica: ComparedServer,
  paths: readonly string[],
  { concurrency, rate, clock }: CompareOptions,
  onProgress: (done: number) => void,
): Promise<Comparison> {
  const groups = new Map<Cause, CauseGroup>();
  const counts = new Map<string, Promise<UnfilteredCounts>>();
  const startMs = clock();
  let [begun, done, different] = [0, 0, 0];
  /** The counts of the list without its query, fetched once. */
  const unfilteredCounts = (path: string): Promise<UnfilteredCounts> => {
    const list = `${path.split('?')[0]!}?limit=1`;
    const fetchCounts = async (): Promise<UnfilteredCounts> => {
      const [original, copy] = await Promise.all([upstream.response(list), replica.response(list)]);
      return { upstream: countIn(original.body), replica: countIn(copy.body) };
    };
    if (!counts.has(list)) counts.set(list, fetchCounts());
    return counts.get(list)!;
  };
  const work = async (): Promise<void> => {
    for (let i = begun++; i < paths.length; i = begun++) {
      const path = paths[i]!;
      await wait(Math.max(0, startMs + (i * 1000) / rate - clock()));
      const [original, copy] = await Promise.all([upstream.response(path), replica.response(path)]);
      const isOtherCount = countIn(original.body) !== countIn(copy.body);
      const unfiltered = isOtherCount && path.includes('?') ? await unfilteredCounts(path) : undefined;
      const differences = differencesBetween(original, copy, unfiltered);
      if (differences.length > 0) different++;
      for (const difference of differences) addTo(groups, path, difference);
      onProgress(++done);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return {
    compared: paths.length,
    different,
    groups: [...groups.values()].toSorted((a, b) => b.requests - a.requests),
  };
}

function addTo(groups: Map<Cause, CauseGroup>, path: string, { cause, upstream, replica }: Difference): void {
  const group = groups.get(cause) ?? { cause, requests: 0, examples: [] };
  groups.set(cause, group);
  group.requests++;
  if (group.examples.length < EXAMPLES_MAX) group.examples.push({ path, upstream, replica });
}
