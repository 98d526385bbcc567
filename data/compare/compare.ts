// Sends the same requests to an upstream and to its replica and collects the differences.
import type { Collection } from '../../engine/schema/types.ts';
import type { OnProgress } from '../progress.ts';
import { failedStatus, forEachParallel, joinHeader, Upstream, type UpstreamOptions } from '../upstream/client.ts';
import { fetchRootView } from '../upstream/crawl.ts';
import { type Cause, type ComparedResponse, countIn, type Difference, differencesBetween } from './differences.ts';

/** Examples of each cause in the report. */
const EXAMPLES_MAX = 3;

/** The requests that differ for one cause. */
interface CauseGroup {
  readonly cause: Cause;
  requests: number;
  readonly examples: (Pick<Difference, 'upstream' | 'replica'> & { readonly path: string })[];
}

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
  const groups = new Map<Cause, CauseGroup>();
  let different = 0;
  const responses = (path: string) => Promise.all([upstream.response(path), replica.response(path)]);
  const compare = async (path: string): Promise<void> => {
    const [original, copy] = await responses(path);
    const [list, query] = path.split('?');
    const isOtherCount = query !== undefined && countIn(original.body) !== countIn(copy.body);
    const unfiltered = isOtherCount ? (await responses(`${list}?limit=1`)).map(({ body }) => countIn(body)) : [];
    const differences = differencesBetween(original, copy, unfiltered);
    if (differences.length > 0) different++;
    for (const difference of differences) addTo(groups, path, difference);
  };
  await forEachParallel(paths, concurrency, compare, onProgress, 'comparing responses');
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
