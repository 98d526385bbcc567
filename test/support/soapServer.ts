// The SOAP service on both transports in this process, for an authority in memory: clients and fuzzers send to it.
// Only the authority and its thread are replaced; paths that are not the service's get 404.
import type { Authority } from '../../server/authority/authority.ts';
import { claimPort } from '../../server/http/ports.ts';
import { newTally } from '../../server/observe/tally.ts';
import { outcomeOf } from '../../server/authority/soap/answers.ts';
import { SOAP_ANSWERS } from '../../server/authority/soap/tally.ts';
import { replyTo } from '../../server/authority/soap/reply.ts';
import { soapHandler, type SoapOptions } from '../../server/authority/soap/service.ts';
import { memoryAuthority } from './authorities.ts';
import { running, type Running, textAnswer, TRANSPORTS } from './transports.ts';

/** A running service: `url` on uWebSockets.js, `http10Url` on node:http; each WSDL points to its own. */
export interface SoapServer {
  readonly url: string;
  readonly http10Url: string;
  readonly servers: readonly Running[];
  stop(): Promise<void>;
}

/** The body limit of services under test, small enough to be passed often. */
export const SOAP_BODY_BYTES_MAX = 1_048_576;

/** `onBug` gets what the authority throws. */
interface SoapServerOptions {
  readonly soapBodyBytesMax?: number;
  readonly onBug?: (error: unknown) => void;
}

/** A client of an authority in this thread. `onBug` gets what it throws. */
function clientOf(
  authority: () => Authority,
  onBug: (error: unknown) => void = () => undefined,
): SoapOptions['authority'] {
  return {
    find: () => undefined,
    ask: async (message) => {
      await Promise.resolve();
      return outcomeOf(replyTo(authority(), message, onBug));
    },
  };
}

/** Starts the service on free ports. `authority` is asked for each request. */
export async function startSoapServer(
  authority: () => Authority = constantly(memoryAuthority()),
  { soapBodyBytesMax = SOAP_BODY_BYTES_MAX, onBug }: SoapServerOptions = {},
): Promise<SoapServer> {
  const servers: Running[] = [];
  const urls: string[] = [];
  for (const transport of TRANSPORTS) {
    const { port, release } = await claimPort('127.0.0.1', 0);
    await release();
    const url = `http://127.0.0.1:${port}`;
    const handler = soapHandler({
      authority: clientOf(authority, onBug),
      tally: newTally(SOAP_ANSWERS),
      settings: { baseUrl: url, allowBaseUrls: [], soapBodyBytesMax },
      otherwise: () => ({ ...textAnswer('other'), status: 404 }),
    });
    servers.push(await running(transport, handler, port));
    urls.push(url);
  }
  const stop = async (): Promise<void> => void (await Promise.all(servers.map((server) => server.stop())));
  return { url: urls[0]!, http10Url: urls[1]!, servers, stop };
}

function constantly<T>(value: T): () => T {
  return () => value;
}
