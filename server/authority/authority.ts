// The interface between serving threads and the authority thread, the limits of waiting messages, and the strings of
// getTrustedHostInfo. Long messages have a separate limit, so that a flood of them leaves room for others.
import type { MessagePort } from 'node:worker_threads';
import type { AuditFile } from '../observe/log.ts';
import type { ServiceEvent } from '../observe/events.ts';
import type { AuthorityData } from './configuration/load.ts';
import type { FaultName } from './soap/faults.ts';
import type { TrustedHost } from './configuration/hosts.ts';

/** Granted, denied by the configuration, or refused because an input is invalid. */
type StatusCode = 'AccessGranted' | 'AccessDenied' | 'AccessError';

/** Identifies a request in logs: its id in the access log, if any, and the address of its connection. */
export interface Sender {
  readonly id?: string | undefined;
  readonly peer?: string;
}

/** The received texts: a certificate chain in PEM, and an attribute certificate or ''. */
export interface AuthorisationRequest extends Sender {
  readonly usrProxyCert: string;
  readonly usrAttCert: string;
}

/** The response: the attribute certificate if granted, else '' and one sentence. */
export interface Authorisation {
  readonly attCert: string;
  readonly statCode: StatusCode;
  readonly errMsg: string;
}

export interface Authority {
  /** By local role: `name:uri:remote1, remote2` of each trusted host that maps to it, in configuration order. */
  readonly trustedHosts: ReadonlyMap<string, readonly string[]>;
  /** Decides, signs and records. Never throws because of a client's input. */
  readonly authorise: (request: AuthorisationRequest) => Authorisation;
}

export interface SoapMessage {
  readonly body: Uint8Array;
  /** From Content-Type; undefined if missing. */
  readonly charset: string | undefined;
  readonly sender: Sender;
}

/** A fault, or the bytes of a response with its cell of OUTCOME. */
export type Reply =
  { readonly fault: FaultName } | { readonly outcome: number; readonly bytes: Uint8Array<ArrayBuffer> };

/** From a serving thread to the authority thread. The reply has the same `id`. */
export interface PostedMessage extends SoapMessage {
  readonly id: number;
}

/** From the authority thread to a serving thread: the hosts of a new configuration, or a reply. */
export type FromAuthority =
  { readonly trustedHosts: Authority['trustedHosts'] } | { readonly id: number; readonly reply: Reply };

export interface AuthorityStart {
  readonly data: AuthorityData;
  readonly audit: AuditFile;
}

/** From the supervisor to the authority thread. `end` waits until all ports are closed. */
export type ToAuthority =
  | { readonly kind: 'link'; readonly port: MessagePort }
  | { readonly kind: 'data'; readonly data: AuthorityData }
  | { readonly kind: 'audit'; readonly events: readonly ServiceEvent[] }
  | { readonly kind: 'end' };

export interface AuthorityReport {
  readonly events: readonly ServiceEvent[];
  /** A sentence about each line that could not be written to the audit log. */
  readonly unwritten: readonly string[];
}

/** Over three times what users send. Reading a message of this length takes at most 2.5 ms. */
const LONG_BYTES = 16_384;
/** About 0.2 s of signing (A85). */
const SHORT_MAX = 256;
/** At most about a second of reading (A105). */
const LONG_BYTES_MAX = 4 << 20;

/** Two shared words: the number of waiting short messages, and the bytes of waiting long ones. */
export function newBacklog(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
}

/** Whether a message must wait for all short ones. */
export function isLong({ length }: Uint8Array): boolean {
  return length > LONG_BYTES;
}

/** Counts a message in if there is room. A long one always has room if no other long one waits. */
export function enter(backlog: Int32Array, body: Uint8Array): boolean {
  const before = isLong(body) ? Atomics.add(backlog, 1, body.length) : Atomics.add(backlog, 0, 1);
  const hasRoom = isLong(body) ? before === 0 || before + body.length <= LONG_BYTES_MAX : before < SHORT_MAX;
  if (!hasRoom) leave(backlog, body);
  return hasRoom;
}

export function leave(backlog: Int32Array, body: Uint8Array): void {
  if (isLong(body)) Atomics.sub(backlog, 1, body.length);
  else Atomics.sub(backlog, 0, 1);
}

/** By local role: `name:uri:remote1, remote2` of each host that maps to it, without duplicates, in the given order. */
export function trustedHostStrings(hosts: readonly TrustedHost[]): ReadonlyMap<string, readonly string[]> {
  const strings = new Map<string, string[]>();
  for (const { name, uri, mappings } of hosts) {
    const remotes = new Map<string, Set<string>>();
    for (const { remote, local } of mappings) {
      const ofRole = remotes.get(local) ?? new Set();
      remotes.set(local, ofRole.add(remote));
    }
    for (const [local, names] of remotes) {
      const ofLocal = strings.get(local) ?? [];
      ofLocal.push(`${name}:${uri}:${[...names].join(', ')}`);
      strings.set(local, ofLocal);
    }
  }
  return strings;
}
