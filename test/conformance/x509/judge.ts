// Runs a case of the public suites of path validation, in this process or through the command line.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FILE_LIMITS, readChain, readCrlFile, makeTrustStore } from '../../../server/authority/x509/search.ts';
import { makeCrlStore } from '../../../server/authority/x509/certificate.ts';
import { type ChainRules, validateChain } from '../../../server/authority/x509/validate.ts';
import type { PathCase } from '../../support/testdata.ts';

/** The result of a case: the verdict, the reason of a rejection, and the CPU time in milliseconds. */
export interface Outcome {
  readonly verdict: 'accept' | 'reject';
  readonly reason: string;
  readonly cpuMs: number;
}

const DEPTH_INITIAL = 16;
const NO_PROXIES = { full: false, limited: false, legacy: false } as const;

/** Parses and validates a case in this process. */
export function judge(one: PathCase): Outcome {
  const before = process.cpuUsage();
  const result = validated(one);
  const { user, system } = process.cpuUsage(before);
  return { ...result, cpuMs: (user + system) / 1000 };
}

function validated(one: PathCase): Pick<Outcome, 'verdict' | 'reason'> {
  const trust = readChain(one.trusted.join('\n'), FILE_LIMITS);
  const chain = readChain([one.leaf, ...one.inter].join('\n'), FILE_LIMITS);
  const crls = one.crls.length === 0 ? undefined : readCrlFile(Buffer.from(one.crls.join('\n')));
  if (trust.kind === 'unreadable') return { verdict: 'reject', reason: trust.reason };
  if (chain.kind === 'unreadable') return { verdict: 'reject', reason: chain.reason };
  if (crls?.kind === 'unreadable') return { verdict: 'reject', reason: crls.reason };
  const rules: ChainRules = {
    trust: makeTrustStore(trust.all),
    crls: crls && makeCrlStore(crls.all),
    at: one.time,
    maxDepth: one.max_depth ?? DEPTH_INITIAL,
    proxies: NO_PROXIES,
    profile: 'strict',
    clockSkewSeconds: 0,
    allowWeak: false,
  };
  const verdict = validateChain(chain.all, rules);
  return verdict.accepted ? { verdict: 'accept', reason: '' } : { verdict: 'reject', reason: verdict.reason };
}

const CLI = fileURLToPath(new URL('../../../server/commands/cli.ts', import.meta.url));

/**
 * Validates a case with `authority verify-cert`, with files in a separate directory. Throws if the exit code is neither
 * 0 nor 1.
 */
export function judgeByCommand(one: PathCase, directory: string): Outcome {
  const fileOf = (name: string, pems: readonly string[]): string => {
    const path = join(directory, name);
    writeFileSync(path, pems.join('\n'));
    return path;
  };
  const depth = typeof one.max_depth === 'number' ? ['--max-depth', String(one.max_depth)] : [];
  const crls = one.crls.length === 0 ? [] : ['--crls', fileOf('crls.pem', one.crls)];
  const words = [
    '--trust',
    fileOf('trust.pem', one.trusted),
    '--time',
    String(one.time),
    '--timing',
    ...depth,
    ...crls,
  ];
  const argv = [CLI, 'authority', 'verify-cert', ...words, fileOf('chain.pem', [one.leaf, ...one.inter])];
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
  if (status !== 0 && status !== 1) throw new Error(`${one.id} ended with ${status}: ${stderr}`);
  const cpuMs = Number(/^validation: ([0-9.]+) ms of CPU$/m.exec(stdout)?.[1]);
  return { verdict: status === 0 ? 'accept' : 'reject', reason: stderr, cpuMs };
}
