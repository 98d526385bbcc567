// Feeds mutated certificates, CRLs and texts to the readers and the validator. This happens in a thread with a small
// heap: a reader that retains too much memory ends the thread.
import { parentPort, Worker } from 'node:worker_threads';
import { readCertificateFile, readChain, readCrlFile, makeTrustStore } from '../../server/authority/x509/search.ts';
import { validateChain } from '../../server/authority/x509/validate.ts';
import { type Random, randomOf } from './random.ts';

/**
 * Inputs to mutate: certificates and CRLs in DER, and a chain that is accepted at `at`, with its configured CA last.
 */
export interface FuzzTask {
  readonly seed: number;
  readonly count: number;
  readonly at: number;
  readonly certificates: readonly Uint8Array[];
  readonly crls: readonly Uint8Array[];
  readonly chain: readonly Uint8Array[];
}

const HEAP_MB = 64;

/** Runs a task. Returns the faults, each with the input that caused it, and the number of inputs that could be read. */
export async function fuzzCertificates(task: FuzzTask): Promise<{ faults: readonly string[]; read: number }> {
  const worker = new Worker(new URL(import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
  try {
    return await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.postMessage(task);
    });
  } finally {
    await worker.terminate();
  }
}

parentPort?.once('message', (task: FuzzTask) => parentPort?.postMessage(run(task)));

function run({ seed, count, at, ...inputs }: FuzzTask): { faults: readonly string[]; read: number } {
  const random = randomOf(seed);
  const faults: string[] = [];
  let read = 0;
  for (let i = 0; i < count && faults.length < 5; i++) {
    const input = drawn(random, inputs);
    try {
      read += Number(input.feed());
      const accepted = input.forge?.(at);
      if (accepted !== undefined) faults.push(`${accepted}: ${input.shown}`);
    } catch (error) {
      faults.push(`${String(error)}: ${input.shown}`);
    }
  }
  return { faults, read };
}

interface Input {
  readonly shown: string;
  /** Feeds the input to its reader. Returns whether it contained anything readable. */
  readonly feed: () => boolean;
  /** Offers the input to the validator. Returns the fault if it is accepted. */
  readonly forge?: (at: number) => string | undefined;
}

function drawn(random: Random, { certificates, crls, chain }: Omit<FuzzTask, 'seed' | 'count' | 'at'>): Input {
  const der = (list: readonly Uint8Array[]): Buffer =>
    mutated(Buffer.from(random.pick(list)), Buffer.from(random.pick(certificates)), random);
  switch (random.integer(0, 4)) {
    case 0: {
      const bytes = der(certificates);
      return { shown: bytes.toString('hex'), feed: () => readCertificateFile(bytes).kind === 'read' };
    }
    case 1: {
      const bytes = der(crls);
      return { shown: bytes.toString('hex'), feed: () => readCrlFile(bytes).kind === 'read' };
    }
    case 2: {
      const text = mutated(Buffer.from(pems(chain)), Buffer.from(pems(certificates.slice(0, 2))), random).toString(
        'latin1',
      );
      return { shown: JSON.stringify(text), feed: () => readChain(text).kind === 'read' };
    }
    default:
      return forged(random, chain);
  }
}

/** A good chain with one mutated certificate. It may be accepted only if the signed part is unchanged. */
function forged(random: Random, chain: readonly Uint8Array[]): Input {
  const victim = random.integer(0, chain.length - 1);
  const bytes = mutated(Buffer.from(chain[victim]!), Buffer.from(random.pick(chain)), random);
  const text = pems(chain.slice(0, -1).map((der, i) => (i === victim ? bytes : der)));
  const trust = readChain(pems(chain.slice(-1)));
  const forge = (at: number): string | undefined => {
    const reading = readChain(text);
    if (reading.kind === 'unreadable' || trust.kind === 'unreadable') return undefined;
    const verdict = validateChain(reading.all, {
      trust: makeTrustStore(trust.all),
      at,
      proxies: { full: true, limited: true, legacy: true },
      clockSkewSeconds: 0,
      allowWeak: false,
      crls: undefined,
      maxDepth: 16,
      profile: 'service',
    });
    if (!verdict.accepted) return undefined;
    // The signed part comes first and must be unchanged. Changed bytes after it may encode the same signature
    // differently.
    const before = readChain(pems([chain[victim]!]));
    const same =
      before.kind === 'read' &&
      verdict.path.some(({ signed }) => Buffer.compare(signed.bytes, before.all[0]!.signed.bytes) === 0);
    return same ? undefined : 'a forged certificate was accepted';
  };
  return { shown: text, feed: () => readChain(text).kind === 'read', forge };
}

function pems(ders: readonly Uint8Array[]): string {
  return ders
    .map((der) => `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString('base64')}\n-----END CERTIFICATE-----\n`)
    .join('');
}

/** Bytes and tags that break parsers. */
const EVIL = [0x00, 0x01, 0x30, 0x31, 0x7f, 0x80, 0x81, 0x82, 0x84, 0x88, 0xa0, 0xa3, 0xff];

const MUTATIONS: readonly ((bytes: Buffer, random: Random, other: Buffer) => Buffer)[] = [
  (bytes, random) => changed(bytes, random, (byte) => byte ^ (1 << random.integer(0, 8))),
  (bytes, random) => changed(bytes, random, () => random.pick(EVIL)),
  (bytes, random) => changed(bytes, random, (byte) => byte + random.pick([-1, 1])),
  (bytes, random) => bytes.subarray(0, random.integer(0, bytes.length + 1)),
  (bytes, random) => replaced(bytes, random, () => Buffer.alloc(0)),
  (bytes, random) => replaced(bytes, random, (piece) => Buffer.concat([piece, piece])),
  (bytes, random) => replaced(bytes, random, (piece) => Buffer.from(piece.toReversed())),
  (bytes, random) => replaced(bytes, random, () => Buffer.from(random.several(0, 40, () => random.integer(0, 256)))),
  (bytes, random, other) => replaced(bytes, random, () => pieceOf(other, random)),
  // A length of four gigabytes.
  (bytes, random) =>
    replaced(bytes, random, (piece) => Buffer.concat([Buffer.of(0x30, 0x84, 0xff, 0xff, 0xff, 0xff), piece])),
  (bytes, random) => replaced(bytes, random, () => Buffer.alloc(random.integer(2, 4000), Buffer.of(0x30, 0x80))),
];

/** One to four mutations of `bytes`, some with pieces of `other`. */
export function mutated(bytes: Buffer, other: Buffer, random: Random): Buffer {
  const steps = random.several(1, 5, () => random.pick(MUTATIONS));
  return steps.reduce((result, mutate) => mutate(result, random, other), bytes);
}

function changed(bytes: Buffer, random: Random, change: (byte: number) => number): Buffer {
  const copy = Buffer.from(bytes);
  if (copy.length > 0) {
    const at = random.integer(0, copy.length);
    copy[at] = change(copy[at]!);
  }
  return copy;
}

function replaced(bytes: Buffer, random: Random, replace: (piece: Buffer) => Buffer): Buffer {
  const start = random.integer(0, bytes.length + 1);
  const end = Math.min(bytes.length, start + random.integer(0, 40));
  return Buffer.concat([bytes.subarray(0, start), replace(bytes.subarray(start, end)), bytes.subarray(end)]);
}

function pieceOf(bytes: Buffer, random: Random): Buffer {
  const start = random.integer(0, bytes.length + 1);
  return bytes.subarray(start, start + random.integer(0, 200));
}
