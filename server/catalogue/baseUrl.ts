// Chooses the base URL for the links of a response: the configured one, or an allowed one that the request names. Never
// trusts an unlisted host (A23).
import ipaddr from 'ipaddr.js';
import { OperationError } from '../../data/operationError.ts';
import { basePath, type Request } from '../http/exchange.ts';

export interface BaseUrlConfig {
  readonly baseUrl: string;
  /** Can be chosen instead of `baseUrl`, the default. */
  readonly allowed: readonly string[];
  /** Networks or addresses. */
  readonly trustedProxies: readonly string[];
}

/** Each choice is one object and can be compared by identity. */
export interface BaseUrlChoice {
  readonly baseUrl: string;
  readonly path: string;
  /** Headers other than Host that the choice depends on. */
  readonly varies: readonly string[];
}

const FORWARDED_HEADERS: readonly string[] = ['X-Forwarded-Host', 'X-Forwarded-Proto'];

/** A listed base URL. */
interface Listed {
  readonly direct: BaseUrlChoice;
  readonly proxied: BaseUrlChoice;
  readonly scheme: string;
  /** In lower case, with the port unless it is the scheme's default. */
  readonly host: string;
}

/**
 * Returns a function that chooses the base URL of a request. The host is X-Forwarded-Host (the first of several) if the
 * peer is a trusted proxy and sent it, else Host. Among the base URLs with that host, default first, the scheme in
 * X-Forwarded-Proto of a trusted proxy decides, else the first one wins. Without a match it is the default. The path of
 * a base URL does not matter. Throws OperationError `usage` for an invalid network. Choosing costs nothing if no other
 * base URL is allowed.
 */
export function baseUrlChooser(config: BaseUrlConfig): (request: Request) => BaseUrlChoice {
  const networks = networksOf(config.trustedProxies);
  const unlisted: BaseUrlChoice = { baseUrl: config.baseUrl, path: basePath(config.baseUrl), varies: [] };
  if (config.allowed.length === 0) return () => unlisted;
  const listed = [config.baseUrl, ...config.allowed].map(parseListed);
  return (request) => {
    const isTrusted = networks.length > 0 && isWithinNetworks(networks, request.peer());
    const forwarded = isTrusted ? firstOf(request.header('x-forwarded-host')) : undefined;
    const scheme = isTrusted ? firstOf(request.header('x-forwarded-proto')) : undefined;
    const { direct, proxied } = findListed(listed, forwarded ?? firstOf(request.header('host')), scheme) ?? listed[0]!;
    return isTrusted ? proxied : direct;
  };
}

function parseListed(baseUrl: string): Listed {
  const url = new URL(baseUrl);
  const path = basePath(baseUrl);
  return {
    direct: { baseUrl, path, varies: [] },
    proxied: { baseUrl, path, varies: FORWARDED_HEADERS },
    scheme: url.protocol.slice(0, -1),
    host: url.host,
  };
}

function findListed(
  listed: readonly Listed[],
  host: string | undefined,
  scheme: string | undefined,
): Listed | undefined {
  if (host === undefined) return undefined;
  const fitting = listed.filter((one) => one.host === withoutDefaultPort(host, one.scheme));
  return fitting.find((one) => one.scheme === scheme) ?? fitting[0];
}

function withoutDefaultPort(host: string, scheme: string): string {
  const port = scheme === 'https' ? ':443' : ':80';
  return host.endsWith(port) ? host.slice(0, -port.length) : host;
}

/** The first member of a list header in lower case; undefined if the list is empty. */
function firstOf(header: string | undefined): string | undefined {
  return header?.split(',', 1)[0]!.trim().toLowerCase() || undefined;
}

/** A network: its first address and the number of significant bits. */
export type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Parses networks in CIDR notation or single addresses. Throws OperationError `usage` for an invalid one. */
export function networksOf(texts: readonly string[]): readonly Network[] {
  return texts.map(networkOf);
}

/** IPv4 networks written as IPv6 (`::ffff:10.0.0.0/104`) become IPv4, as addresses of peers do. */
function networkOf(text: string): Network {
  const cidr = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`;
  if (!ipaddr.isValidCIDR(cidr))
    throw new OperationError('usage', `trusted proxy ${text}: want a network such as 10.0.0.0/8`);
  const [address, bits] = ipaddr.parseCIDR(cidr);
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96;
  return isMapped ? [address.toIPv4Address(), bits - 96] : [address, bits];
}

/** Whether an address is in one of the networks; false for anything else. Cost: one comparison per network. */
export function isWithinNetworks(networks: readonly Network[], peer: string): boolean {
  if (!ipaddr.isValid(peer)) return false;
  const address = ipaddr.process(peer);
  return networks.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits));
}
