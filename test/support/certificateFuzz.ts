// Feeds mutated certificates, CRLs and texts to the readers and the validator, in a thread of its own with a small
// heap: a reader that keeps too much ends the thread.
import { parentPort, Worker } from 'node:worker_threads';
import { readCertificateFile, readChain, readCrlFile, trustStoreOf } from '../../server/authority/x509/search.ts';
import { validateChain } from '../../server/authority/x509/validate.ts';
import { mutated } from './derMutations.ts';
import { type Random, randomOf } from './random.ts';

/** Inputs to mutate: certificates and CRLs in DER, and a chain that is accepted at `at`, its configured CA last. */
export interface FuzzTask {
  readonly seed: number;
  readonly count: number;
  readonly at: number;
  readonly certificates: readonly Uint8Array[];
  readonly crls: readonly Uint8Array[];
  readonly chain: readonly Uint8Array[];
}

const HEAP_MB = 64;

/**
 * Runs a task; answers what went wrong, each with the input that did it, and how many inputs were read all the same.
 */
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
  /** Reads it; whether there was anything to read. */
  readonly feed: () => boolean;
  /** Tries to be accepted with it; what is wrong when that works. */
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

/** A good chain with one certificate mutated: accepted only if what was signed is still the same. */
function forged(random: Random, chain: readonly Uint8Array[]): Input {
  const victim = random.integer(0, chain.length - 1);
  const bytes = mutated(Buffer.from(chain[victim]!), Buffer.from(random.pick(chain)), random);
  const text = pems(chain.slice(0, -1).map((der, i) => (i === victim ? bytes : der)));
  const trust = readChain(pems(chain.slice(-1)));
  const forge = (at: number): string | undefined => {
    const reading = readChain(text);
    if (reading.kind === 'unreadable' || trust.kind === 'unreadable') return undefined;
    const verdict = validateChain(reading.all, {
      trust: trustStoreOf(trust.all),
      at,
      proxies: { full: true, limited: true, legacy: true },
      clockSkewSeconds: 0,
      allowWeak: false,
      crls: undefined,
      maxDepth: 16,
      profile: 'service',
    });
    if (!verdict.accepted) return undefined;
    // What is signed comes first and must be what it was; bytes behind it may say the same signature in another way.
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
