// Where snapshots are handed from one machine to many: immutable objects and one pointer. The contract only; a kind of
// target is a file of its own, and openTarget.ts has which of them a URL asks for.
import type { HeldFile } from '../store/load.ts';
import type { Pointer } from './pointer.ts';

/** A pointer as it stands, and what tells it from the next one; undefined where nothing does. */
export interface PointerText {
  readonly text: string;
  readonly validator: string | undefined;
}

/**
 * What a replica asks of a target. `name` is for people and holds no secret. All of it throws OperationError `network`
 * or `file` where the target cannot be asked; a `signal` that is aborted ends what waits.
 */
export interface Target {
  readonly name: string;
  /** The pointer; `unchanged` where it is still the one of this validator, undefined where there is none. */
  readPointer(known: string | undefined, signal: AbortSignal): Promise<PointerText | 'unchanged' | undefined>;
  /**
   * The bytes of an object from `offset` on, or from an earlier one, which is told; undefined where there is none. What
   * comes is judged by nobody yet, nor how much.
   */
  read(name: string, offset: number, signal: AbortSignal): Promise<ObjectBytes | undefined>;
  /**
   * Makes `file` a hard link to an object of this size, without a copy. Returns false if that is impossible, as between
   * two file systems. Absent if objects are not files.
   */
  link?(name: string, size: number, file: string, signal: AbortSignal): Promise<boolean>;
  /**
   * Calls `onChange` soon after each new pointer, and when the target was lost or found again, until `signal` is
   * aborted; absent where a target cannot tell.
   */
  watch?(onChange: () => void, signal: AbortSignal): void;
  /** Lets go of connections. */
  close(): Promise<void>;
}

/** Bytes of an object, the first of which is the one at `offset`. */
export interface ObjectBytes {
  readonly offset: number;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** An object of a target. `modifiedMs` is when it was put there, in milliseconds since 1970. */
export interface ListedObject {
  readonly name: string;
  readonly size: number;
  readonly modifiedMs: number;
}

/** What a publisher asks besides. */
export interface PublishingTarget extends Target {
  /** Whether an object is there, whole. */
  has(name: string, size: number): Promise<boolean>;
  /**
   * Puts an object, which appears whole and lastingly or not at all; one that is there already may be replaced by its
   * own bytes. `pieces` may throw, and then nothing appears.
   */
  write(name: string, size: number, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * Makes an object a hard link to an open file, which must never be written to again. Returns false if that is
   * impossible. Absent if objects are not files.
   */
  adopt?(name: string, held: HeldFile): Promise<boolean>;
  /** Replaces the pointer that was found by the one that follows it; false where another publisher was quicker. */
  replacePointer(next: Pointer, found: PointerText | undefined): Promise<boolean>;
  /** All objects; and what publishers left of some that were killed, under names that are no objects'. */
  list(): Promise<readonly ListedObject[]>;
  /** Removes an object, if it is there. */
  remove(name: string): Promise<void>;
}

/**
 * Who we are to a NATS cluster: files with the credentials, and with the authorities of its certificates. On so many of
 * its servers lies a bucket that a publisher makes.
 */
export interface NatsAccess {
  readonly credentials?: string | undefined;
  readonly ca?: string | undefined;
  readonly replicas?: number | undefined;
}

/** Keys of an S3 server, from the environment; '' where it has none of that name. */
export interface S3Keys {
  readonly id: string;
  readonly secret: string;
  readonly token: string;
}

/**
 * Where the S3 server is, AWS by default, and who we are to it: nobody without keys. The bucket is the first part of
 * the path or of the host, by default of the path where an endpoint is named. Only where `isUnconditional` something is
 * published to a server that ignores conditions.
 */
export interface S3Access {
  readonly endpoint?: string | undefined;
  readonly region: string;
  readonly addressing?: 'path' | 'host' | undefined;
  readonly keys?: S3Keys | undefined;
  readonly isUnconditional?: boolean | undefined;
}

/** Who we are to targets that ask, and a PEM file of the authorities that we trust. */
export interface TargetAccess {
  readonly ca?: string | undefined;
  readonly nats?: NatsAccess;
  readonly s3?: S3Access;
}

/** How long a target may take to answer, or to send its next bytes. */
export interface TargetOptions extends TargetAccess {
  readonly timeoutMs: number;
}
