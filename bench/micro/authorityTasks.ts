// The micro-benchmarks of the attribute authority: requests to be authorised, in RSA-2048 signatures timed in the same
// run. With texts that came before, with new proxies, and with new users too; for roles of the site and mapped ones. On
// the demonstration's files, made for the run.
import assert from 'node:assert/strict';
import { sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCertificate } from '../../server/authority/attributeCertificate/read.ts';
import { signatureProblem } from '../../server/authority/attributeCertificate/verify.ts';
import { type Authorise, authoriserOf } from '../../server/authority/authorise.ts';
import type { AuthorisationRequest } from '../../server/authority/authority.ts';
import { type AuthorityData, loadAuthority } from '../../server/authority/configuration/load.ts';
import { DEMONSTRATION_FILES, writeDemonstration } from '../../server/authority/demonstration.ts';
import { parseCertificate } from '../../server/authority/x509/certificate.ts';
import { SIGNATURE_TARGETS } from '../authority/callScenarios.ts';
import {
  type Credentials,
  FreshCredentials,
  type CredentialFreshness,
  issuersOf,
  type Who,
} from '../authority/freshCredentials.ts';
import type { MicroTask } from './microTask.ts';

/** When everything is valid: no clock is asked. */
const AT = 1_900_000_000;

interface Prepared {
  readonly data: AuthorityData;
  readonly requests: Readonly<Record<keyof typeof SIGNATURE_TARGETS, AuthorisationRequest>>;
  readonly fresh: FreshCredentials;
}

/** The suffixes of tasks by what is new in each request. */
const SUFFIXES: readonly (readonly [suffix: string, freshness: CredentialFreshness])[] = [
  ['-new', 'proxy'],
  ['-stranger', 'user'],
];
const SENDERS = { original: 'user', mapped: 'visitor' } as const satisfies Record<keyof typeof SIGNATURE_TARGETS, Who>;
/** Requests are made some at a time, so that most runs come right behind another one. */
const MADE_AT_ONCE = 32;

/** Both decisions, each with known chains, with new proxies and with new users. Cost: a few RSA keys. */
export function authorityTasks(): readonly MicroTask[] {
  const { data, requests, fresh } = prepare();
  const authorise = authoriserOf(data);
  return (['original', 'mapped'] as const).flatMap((provenance) => {
    const subject = { provenance, data, authorise };
    const fresher = SUFFIXES.map(([suffix, freshness]) => {
      const source = requestsOf(() => fresh.next(SENDERS[provenance], freshness));
      return taskOf({ ...subject, ...source, name: `authorise-${provenance}${suffix}` });
    });
    return [taskOf({ ...subject, name: `authorise-${provenance}`, next: () => requests[provenance] }), ...fresher];
  });
}

/** New requests one by one; `prepare` makes some where none is left. */
function requestsOf(nextCredentials: () => Credentials): Pick<Subject, 'prepare' | 'next'> {
  const ready: AuthorisationRequest[] = [];
  const prepare = (): void => {
    if (ready.length > 0) return;
    for (let i = 0; i < MADE_AT_ONCE; i++) {
      const { chain, attributeCertificate } = nextCredentials();
      // As they come to a signing thread from another one, and not as a rope of pieces.
      ready.push(structuredClone({ usrProxyCert: chain, usrAttCert: attributeCertificate }));
    }
  };
  const next = (): AuthorisationRequest => {
    prepare();
    return ready.pop()!;
  };
  return { prepare, next };
}

function prepare(): Prepared {
  const directory = mkdtempSync(join(tmpdir(), 'catalogue-replica-bench-'));
  try {
    const holders = writeDemonstration(directory, AT);
    const loading = loadAuthority(join(directory, DEMONSTRATION_FILES.config), AT);
    assert(loading.kind === 'loaded');
    const text = (name: keyof typeof DEMONSTRATION_FILES): string =>
      readFileSync(join(directory, DEMONSTRATION_FILES[name]), 'utf8');
    const requests = {
      original: { usrProxyCert: text('user'), usrAttCert: '' },
      mapped: { usrProxyCert: text('visitor'), usrAttCert: text('visitorCertificate') },
    };
    const fresh = new FreshCredentials(issuersOf(holders, requests.mapped.usrAttCert));
    return { data: loading.data, requests, fresh };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

interface Subject {
  readonly name: string;
  readonly provenance: keyof typeof SIGNATURE_TARGETS;
  readonly data: AuthorityData;
  readonly authorise: Authorise;
  readonly prepare?: () => void;
  readonly next: () => AuthorisationRequest;
}

function taskOf({ name, provenance, data, authorise, prepare, next }: Subject): MicroTask {
  const signed = Buffer.alloc(600, 0x61);
  return {
    name,
    calibration: 'one RSA-2048 signature',
    ...SIGNATURE_TARGETS[provenance],
    ...(prepare && { prepare }),
    run: () => authorise(next(), AT),
    calibrate: () => sign('sha256', signed, data.key),
    check: () => {
      const { answer } = authorise(next(), AT);
      const reading = readCertificate(answer.attCert);
      assert(reading.kind === 'read', answer.errMsg);
      const { content, signature } = reading.certificate;
      const signer = parseCertificate(data.certificate);
      assert.deepEqual(Buffer.from(signature.der), Buffer.from(signer.der));
      assert.equal(signatureProblem(signature, signer, { algorithms: ['rsa-sha256'], allowWeak: false }), undefined);
      assert.equal(content.provenance, provenance);
      return `${content.holder} ${content.roles.join()} ${content.notBefore} ${content.notAfter}`;
    },
  };
}
