// Connections to the host of a catalogue, a target or a credential service: direct, or through the proxy in the
// environment variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY. As in curl, their names may be in lower case.
import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { OperationError } from './operationError.ts';

/** A request without the origin of its URL. */
type HostRequest = Omit<Dispatcher.RequestOptions, 'origin'>;

/** Connections to one host. They do not follow redirects, retry, or decompress. */
export interface Connections {
  request(options: HostRequest): Promise<Dispatcher.ResponseData>;
  /** Aborts pending requests and closes all connections. */
  destroy(): Promise<void>;
}

/**
 * Opens at most `connections` connections to an origin. `timeoutMs` limits each of these: connecting, the wait for a
 * response, and a pause in its body. With `isDirect` no proxy is used. Throws OperationError `usage` if the environment
 * names an invalid proxy.
 */
export function connectionsTo(origin: string, timeoutMs: number, connections: number, isDirect = false): Connections {
  const connect = { timeout: timeoutMs };
  const timeouts = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  const options = { connections, pipelining: 1, ...timeouts };
  const agent = new EnvHttpProxyAgent({
    ...options,
    connect,
    requestTls: connect,
    proxyTls: connect,
    // Sends whole http: URLs to the proxy instead of opening a tunnel: many proxies allow tunnels to port 443 only.
    proxyTunnel: false,
    // The agent's default pool ignores the limits for such requests.
    factory: (host, agentOptions) => new Pool(host, Object.assign({}, agentOptions, options)),
    httpProxy: proxyFromEnvironment('HTTP_PROXY'),
    httpsProxy: proxyFromEnvironment('HTTPS_PROXY'),
    ...(isDirect && { noProxy: '*' }),
  });
  return { request: (request) => agent.request({ ...request, origin }), destroy: () => agent.destroy() };
}

/**
 * The URL of a proxy from the environment, '' for none. `host:port` is an http: proxy. Throws OperationError `usage`
 * for another URL.
 */
function proxyFromEnvironment(name: string): string {
  const value = (process.env[name.toLowerCase()] ?? process.env[name] ?? '').trim();
  if (value === '') return '';
  const url = value.includes('://') ? value : `http://${value}`;
  if (URL.canParse(url) && /^https?:/i.test(url)) return url;
  throw new OperationError('usage', `environment variable ${name}: want a proxy such as http://proxy.example.org:3128`);
}
