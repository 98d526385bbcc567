// What the attribute authority offers, whatever protocol asks: who maps to which roles elsewhere, and what a user may
// do here. A contract only: no certificates, XML or threads here. server/authority/soap/ speaks for it; service.ts and its kin
// fulfil it.

/** The outcome of an authorisation; granted, refused by the configuration, or refused because an input is wrong. */
export type StatusCode = 'AccessGranted' | 'AccessDenied' | 'AccessError';

/**
 * What a client sends to be authorised, each as received: PEM text of a certificate chain; an attribute certificate or
 * ''. `id` is what the access log names the request by, where it does; `peer` is the address of the connection.
 */
export interface AuthorisationRequest {
  readonly usrProxyCert: string;
  readonly usrAttCert: string;
  readonly id?: string | undefined;
  readonly peer?: string;
}

/**
 * The answer to it: the attribute certificate where granted, else '' and one sentence. `isStarved` where the system had
 * no descriptors, threads or memory for a decision, so that the client may come again.
 */
export interface Authorisation {
  readonly attCert: string;
  readonly statCode: StatusCode;
  readonly errMsg: string;
  readonly isStarved?: boolean;
}

/** A message that is too long to be read where it came. Nobody waits for what it says once its client `isGone`. */
export interface LongMessage {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly charset: string | undefined;
  isGone(): boolean;
}

/** What the module of a protocol has that reads its messages: what one says, as plain data. Throws for bugs alone. */
export interface MessageReader {
  readMessage(body: Uint8Array, charset: string | undefined): unknown;
}

/** One loaded configuration of an attribute authority; a reload makes another. */
export interface Authority {
  /** For each local role, `name:uri:remote1, remote2` of every trusted host that maps to it, in configuration order. */
  readonly trustedHosts: ReadonlyMap<string, readonly string[]>;
  /** Decides and signs, off the calling thread; never rejects for what a client sent. */
  readonly authorise: (request: AuthorisationRequest) => Promise<Authorisation>;
  /**
   * What the protocol's MessageReader makes of a message, off the calling thread, which loses its body; `busy` where
   * too much waits to be read already, and for a client that is gone.
   */
  readonly read: (message: LongMessage) => Promise<unknown>;
}
