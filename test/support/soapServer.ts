// The SOAP service on both transports in this process, speaking for an authority in memory: what clients and fuzzers
// talk to. Everything but the authority is the product's own; paths that are not the service's are answered 404.
import { steadyMs } from '../../server/observe/clock.ts';
import { Slices } from '../../workers/slices.ts';
import type { Authority } from '../../server/authority/authority.ts';
import { claimPort } from '../../server/http/claim.ts';
import { newTally } from '../../server/observe/tally.ts';
import { soapHandler } from '../../server/authority/soap/service.ts';
import { SOAP_ANSWERS } from '../../server/authority/soap/tally.ts';
import { memoryAuthority } from './memoryAuthority.ts';
import { running, textAnswer, TRANSPORTS, type Running } from './transports.ts';

/** A running service: `url` on uWebSockets.js, `http10Url` on node:http; each WSDL points to its own. */
export interface SoapServer {
  readonly url: string;
  readonly http10Url: string;
  readonly servers: readonly Running[];
  stop(): Promise<void>;
}

/** The body limit of services under test, small enough to be passed often. */
export const SOAP_BODY_BYTES_MAX = 1_048_576;

/** Starts the service on free ports. `authority` is asked for each request. */
export async function startSoapServer(
  authority: () => Authority | undefined = constantly(memoryAuthority()),
  soapBodyBytesMax = SOAP_BODY_BYTES_MAX,
): Promise<SoapServer> {
  const servers: Running[] = [];
  const urls: string[] = [];
  for (const transport of TRANSPORTS) {
    const { port, release } = await claimPort('127.0.0.1', 0);
    await release();
    const url = `http://127.0.0.1:${port}`;
    const handler = soapHandler({
      authority,
      tally: newTally(SOAP_ANSWERS),
      slices: new Slices(steadyMs),
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
