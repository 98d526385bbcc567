// Sends the same requests to an upstream and to its replica and collects the differences.
import type { Collection } from '../../engine/schema/types.ts';
import type { OnProgress } from '../progress.ts';
import { failedStatus, forEachParallel, joinHeader, Upstream, type UpstreamOptions } from '../upstream/client.ts';
import { fetchRootView } from '../upstream/crawl.ts';
import { type ComparedResponse, countIn, type Difference, differencesBetween } from './differences.ts';

/** Examples of each cause in the report. */
const EXAMPLES_MAX = 3;

/** The result of a comparison. A request with several differences counts once in `different`. */
export type Comparison = Awaited<ReturnType<typeof compareServers>>;

/** A server that is compared. Close it at the end. */
export class ComparedServer {
  readonly #base: string;
  readonly #client: Upstream;
  /** The base URL of its links, which may differ from its address. */
  #linkBase = '';
  collections: readonly Collection[] = [];

  constructor(options: UpstreamOptions) {
    this.#base = options.base;
    this.#client = new Upstream(options);
  }

  /** Reads the root view. Throws OperationError `network`. */
  async open(): Promise<void> {
    const { bases, collections } = await fetchRootView(this.#client, this.#base);
    this.#linkBase = [...bases].at(-1)!;
    this.collections = collections;
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  /** The response to a path below the base URL. Redirections are not followed. Throws OperationError `network`. */
  async response(path: string): Promise<ComparedResponse> {
    const request = { what: 'a compared response', path: () => path, isAny: true };
    try {
      return await this.#client.get(request, (answer) => {
        const { status, headers, body } = answer!;
        return {
          status,
          contentType: joinHeader(headers['content-type']),
          allow: joinHeader(headers['allow']),
          vary: joinHeader(headers['vary']),
          body: body.toString().replaceAll(this.#linkBase, '{base_url}'),
        };
      });
    } catch (error) {
      const status = failedStatus(error);
      if (status === undefined) throw error;
      return { status, contentType: '', allow: '', vary: '', body: '' };
    }
  }
}

/** Compares the responses of two servers to these paths. Throws OperationError `network` if one does not respond. */
export async function compareServers(
  upstream: ComparedServer,
  replica: ComparedServer,
  paths: readonly string[],
  concurrency: number,
  onProgress: OnProgress,
) {
  const differences: (Difference & { readonly path: string })[] = [];
  const responses = (path: string) => Promise.all([upstream.response(path), replica.response(path)]);
  const compare = async (path: string): Promise<void> => {
    const [original, copy] = await responses(path);
    const [list, query] = path.split('?');
    const isOtherCount = query !== undefined && countIn(original.body) !== countIn(copy.body);
    const unfiltered = isOtherCount ? (await responses(`${list}?limit=1`)).map(({ body }) => countIn(body)) : [];
    for (const difference of differencesBetween(original, copy, unfiltered)) differences.push({ path, ...difference });
  };
  await forEachParallel(paths, concurrency, compare, onProgress, 'comparing responses');
  const groups = [...Map.groupBy(differences, ({ cause }) => cause)].map(([cause, all]) => {
    const examples = all.slice(0, EXAMPLES_MAX).map(({ path, upstream, replica }) => ({ path, upstream, replica }));
    return { cause, requests: all.length, examples };
  });
  return {
    compared: paths.length,
    different: new Set(differences.map(({ path }) => path)).size,
    groups: groups.toSorted((a, b) => b.requests - a.requests),
  };
}
