// Connections to the host of a catalogue, a target or a credential service: directly, or through the proxy that
// HTTP_PROXY, HTTPS_PROXY and NO_PROXY name for it, in capitals or small letters, as in curl.
import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { OperationError } from './operationError.ts';

/** A request below the origin of a host. */
type HostRequest = Omit<Dispatcher.RequestOptions, 'origin'>;

/** The connections to one host. Nothing is followed, retried or unpacked. */
export interface Connections {
  request(options: HostRequest): Promise<Dispatcher.ResponseData>;
  /** Ends what is under way. */
  destroy(): Promise<void>;
}

/**
 * At most `connections` to the host of an origin. It may take `timeoutMs` to be reached, to begin a response, and
 * between two pieces of a body. `isDirect` uses no proxy. Throws OperationError `usage` if a proxy is not a URL.
 */
export function connectionsTo(origin: string, timeoutMs: number, connections: number, isDirect = false): Connections {
  const connect = { timeout: timeoutMs };
  const timeouts = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  const options = { connections, pipelining: 1, ...timeouts };
  const [httpProxy, httpsProxy] = [proxyIn('HTTP_PROXY'), proxyIn('HTTPS_PROXY')];
  if (isDirect || (httpProxy === undefined && httpsProxy === undefined)) {
    const pool = new Pool(origin, { ...options, connect });
    return { request: (request) => pool.request(request), destroy: () => pool.destroy() };
  }
  const agent = new EnvHttpProxyAgent({
    ...options,
    connect,
    requestTls: connect,
    proxyTls: connect,
    // An http: origin is requested by its whole URL: many proxies open tunnels to port 443 only.
    proxyTunnel: false,
    // Without it, connections for such requests have neither limit nor timeouts.
    factory: (host, more) => new Pool(host, Object.assign({}, more, options)),
    ...(httpProxy !== undefined && { httpProxy }),
    ...(httpsProxy !== undefined && { httpsProxy }),
  });
  return { request: (request) => agent.request({ ...request, origin }), destroy: () => agent.destroy() };
}

/** The URL of a proxy in the environment. `host:port` alone is a proxy without TLS. */
function proxyIn(name: string): string | undefined {
  const value = (process.env[name.toLowerCase()] ?? process.env[name] ?? '').trim();
  if (value === '') return undefined;
  const url = value.includes('://') ? value : `http://${value}`;
  if (URL.canParse(url) && /^https?:/i.test(url)) return url;
  throw new OperationError('usage', `environment variable ${name}: want a proxy such as http://proxy.example.org:3128`);
}
