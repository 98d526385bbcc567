// The messages between the parts of the authority. Serving threads post messages to the authority thread and get
// replies. The supervisor starts that thread, gives it configurations and observes its events.
import type { MessagePort } from 'node:worker_threads';
import type { AuditFile } from '../observe/log.ts';
import type { ServiceEvent } from '../observe/events.ts';
import type { AuthorityData } from './configuration/load.ts';
import type { FaultName } from './soap/faults.ts';

/** The outcome of an authorisation; granted, refused by the configuration, or refused because an input is wrong. */
export type StatusCode = 'AccessGranted' | 'AccessDenied' | 'AccessError';

/** The id of a request in the access log, if it has one, and the address of its connection: logs name it by these. */
export interface Sender {
  readonly id?: string | undefined;
  readonly peer?: string;
}

/** The texts of a request, as received: PEM of a certificate chain; an attribute certificate or ''. */
export interface AuthorisationRequest extends Sender {
  readonly usrProxyCert: string;
  readonly usrAttCert: string;
}

/** The response to it: the attribute certificate if granted, else '' and one sentence. */
export interface Authorisation {
  readonly attCert: string;
  readonly statCode: StatusCode;
  readonly errMsg: string;
}

/** One configuration of an authority, as messages ask it. */
export interface Authority {
  /** For each local role, `name:uri:remote1, remote2` of every trusted host that maps to it, in configuration order. */
  readonly trustedHosts: ReadonlyMap<string, readonly string[]>;
  /** Decides, signs and records. Never throws for what a client sent. */
  readonly authorise: (request: AuthorisationRequest) => Authorisation;
}

/** A SOAP message. `charset` is that of its Content-Type, undefined without one. */
export interface SoapMessage {
  readonly body: Uint8Array;
  readonly charset: string | undefined;
  readonly sender: Sender;
}

/** A fault, or the bytes of a response with the cell of OUTCOME that counts it. */
export type Reply =
  { readonly fault: FaultName } | { readonly outcome: number; readonly bytes: Uint8Array<ArrayBuffer> };

/** From a serving thread to the authority thread. Replies name the message by its `id`. */
export interface PostedMessage extends SoapMessage {
  readonly id: number;
}

/** From the authority thread to a serving thread: the hosts of a configuration that answers from now on, or a reply. */
export type FromAuthority =
  { readonly trustedHosts: Authority['trustedHosts'] } | { readonly id: number; readonly reply: Reply };

/** The configuration that the authority thread starts with, and the file of its audit. */
export interface AuthorityStart {
  readonly data: AuthorityData;
  readonly audit: AuditFile;
}

/**
 * From the supervisor to the authority thread: the port of a serving thread, another configuration, events for the
 * audit, or to end once all ports are closed.
 */
export type ToAuthority =
  | { readonly kind: 'link'; readonly port: MessagePort }
  | { readonly kind: 'data'; readonly data: AuthorityData }
  | { readonly kind: 'audit'; readonly events: readonly ServiceEvent[] }
  | { readonly kind: 'end' };

/** From the authority thread to the supervisor: events, and a sentence about each line that the audit lost. */
export interface AuthorityNews {
  readonly events: readonly ServiceEvent[];
  readonly unwritten: readonly string[];
}
