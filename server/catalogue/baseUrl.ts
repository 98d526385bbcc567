// Which base URL the links of an answer start with: the configured one, or a listed one that the request names. Never
// trusts a host that is not listed (A23).
import ipaddr from 'ipaddr.js';
import { OperationError } from '../../data/operationError.ts';
import { basePath, type Request } from '../http/exchange.ts';

/** `baseUrl` is the default; `allowed` may be chosen instead; `trustedProxies` are networks or addresses. */
export interface BaseUrlConfig {
  readonly baseUrl: string;
  readonly allowed: readonly string[];
  readonly trustedProxies: readonly string[];
}

/** `varies` are the headers beside Host that it depends on. Each choice is one object, comparable by identity. */
export interface BaseUrlChoice {
  readonly baseUrl: string;
  readonly path: string;
  readonly varies: readonly string[];
}

const FORWARDED_HEADERS: readonly string[] = ['X-Forwarded-Host', 'X-Forwarded-Proto'];

/** A listed base URL: `host` in lower case, with a port unless it is the default of the scheme. */
interface Listed {
  readonly direct: BaseUrlChoice;
  readonly proxied: BaseUrlChoice;
  readonly scheme: string;
  readonly host: string;
}

/**
 * Makes the choice for each request. The host is X-Forwarded-Host (the first of several) where the peer is a trusted
 * proxy that sent it, else Host. Of the base URLs with that host, default first, the one whose scheme is
 * X-Forwarded-Proto of a trusted proxy is taken, else the first; without one, the default. The path of a base URL plays
 * no part. Throws OperationError `usage` for a network that cannot be read. Cost of a choice: none without a list.
 */
export function baseUrlChooser(config: BaseUrlConfig): (request: Request) => BaseUrlChoice {
  const networks = networksOf(config.trustedProxies);
  const unlisted: BaseUrlChoice = { baseUrl: config.baseUrl, path: basePath(config.baseUrl), varies: [] };
  if (config.allowed.length === 0) return () => unlisted;
  const listed = [config.baseUrl, ...config.allowed].map(takenApart);
  return (request) => {
    const isTrusted = networks.length > 0 && isWithinNetworks(networks, request.peer());
    const forwarded = isTrusted ? firstOf(request.header('x-forwarded-host')) : undefined;
    const scheme = isTrusted ? firstOf(request.header('x-forwarded-proto')) : undefined;
    const { direct, proxied } = chosen(listed, forwarded ?? firstOf(request.header('host')), scheme) ?? listed[0]!;
    return isTrusted ? proxied : direct;
  };
}

function takenApart(baseUrl: string): Listed {
  const url = new URL(baseUrl);
  const path = basePath(baseUrl);
  return {
    direct: { baseUrl, path, varies: [] },
    proxied: { baseUrl, path, varies: FORWARDED_HEADERS },
    scheme: url.protocol.slice(0, -1),
    host: url.host,
  };
}

function chosen(listed: readonly Listed[], host: string | undefined, scheme: string | undefined): Listed | undefined {
  if (host === undefined) return undefined;
  const fitting = listed.filter((one) => one.host === withoutDefaultPort(host, one.scheme));
  return fitting.find((one) => one.scheme === scheme) ?? fitting[0];
}

function withoutDefaultPort(host: string, scheme: string): string {
  const port = scheme === 'https' ? ':443' : ':80';
  return host.endsWith(port) ? host.slice(0, -port.length) : host;
}

/** The first member of a list header in lower case, undefined where there is none. */
function firstOf(header: string | undefined): string | undefined {
  return header?.split(',', 1)[0]!.trim().toLowerCase() || undefined;
}

/** A network, as its first address and how many bits of it count. */
export type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Networks in CIDR notation, or single addresses. Throws OperationError `usage` for one that cannot be read. */
export function networksOf(texts: readonly string[]): readonly Network[] {
  return texts.map(networkOf);
}

/** A network; IPv4 written as IPv6 (`::ffff:10.0.0.0/104`) becomes IPv4, as peers do. */
function networkOf(text: string): Network {
  const cidr = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`;
  if (!ipaddr.isValidCIDR(cidr))
    throw new OperationError('usage', `trusted proxy ${text}: want a network such as 10.0.0.0/8`);
  const [address, bits] = ipaddr.parseCIDR(cidr);
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96;
  return isMapped ? [address.toIPv4Address(), bits - 96] : [address, bits];
}

/** Whether an address lies in one of them; what is no address does not. Cost: a comparison a network. */
export function isWithinNetworks(networks: readonly Network[], peer: string): boolean {
  if (!ipaddr.isValid(peer)) return false;
  const address = ipaddr.process(peer);
  return networks.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits));
}
