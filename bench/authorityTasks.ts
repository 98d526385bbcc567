// The micro-benchmarks of the attribute authority: requests to be authorised, in RSA-2048 signatures timed in the same run.
// With texts that came before and are known, and with texts that are new each time; for roles of the site and mapped ones.
// On the demonstration's files, made for the run. Called by microTasks.ts.
import assert from 'node:assert/strict';
import { sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCertificate } from '../server/authority/attributeCertificate/read.ts';
import { signatureProblem } from '../server/authority/attributeCertificate/verify.ts';
import { type Authorise, authoriserOf } from '../server/authority/authorise.ts';
import type { AuthorisationRequest } from '../server/authority/authority.ts';
import { type AuthorityData, loadAuthority } from '../server/authority/configuration/load.ts';
import { DEMONSTRATION_FILES, writeDemonstration } from '../server/authority/demonstration.ts';
import { parseCertificate } from '../server/authority/x509/certificate.ts';
import type { MicroTask } from './microTask.ts';

/** When everything is valid: no clock is asked. */
const AT = 1_900_000_000;
/** The targets of the design, in signatures. */
const TARGETS = { original: { pass: 2, great: 1.5 }, mapped: { pass: 3.3, great: 2 } } as const;

interface Prepared {
  readonly data: AuthorityData;
  readonly requests: Readonly<Record<keyof typeof TARGETS, AuthorisationRequest>>;
}

/** Both decisions, each with known and with new chains. Cost: two RSA keys. */
export function authorityTasks(): readonly MicroTask[] {
  const { data, requests } = prepare();
  const authorise = authoriserOf(data);
  return (['original', 'mapped'] as const).flatMap((provenance) => {
    const request = requests[provenance];
    let count = 0;
    // Text before the first certificate is no part of a chain, nor a comment before the root, but both are of the digests.
    const anew = (): AuthorisationRequest => {
      const { usrProxyCert, usrAttCert } = request;
      return { usrProxyCert: `${count++}\n${usrProxyCert}`, usrAttCert: usrAttCert && `<!--${count}-->${usrAttCert}` };
    };
    return [
      taskOf({ name: `authorise-${provenance}`, provenance, data, authorise, next: () => request }),
      taskOf({ name: `authorise-${provenance}-new`, provenance, data, authorise, next: anew }),
    ];
  });
}

function prepare(): Prepared {
  const directory = mkdtempSync(join(tmpdir(), 'catalogue-replica-bench-'));
  try {
    writeDemonstration(directory, AT);
    const loading = loadAuthority(join(directory, DEMONSTRATION_FILES.config), AT);
    assert(loading.kind === 'loaded');
    const text = (name: keyof typeof DEMONSTRATION_FILES): string =>
      readFileSync(join(directory, DEMONSTRATION_FILES[name]), 'utf8');
    const requests = {
      original: { usrProxyCert: text('user'), usrAttCert: '' },
      mapped: { usrProxyCert: text('visitor'), usrAttCert: text('visitorCertificate') },
    };
    return { data: loading.data, requests };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

interface Subject {
  readonly name: string;
  readonly provenance: keyof typeof TARGETS;
  readonly data: AuthorityData;
  readonly authorise: Authorise;
  next(): AuthorisationRequest;
}

function taskOf({ name, provenance, data, authorise, next }: Subject): MicroTask {
  const signed = Buffer.alloc(600, 0x61);
  return {
    name,
    calibration: 'one RSA-2048 signature',
    ...TARGETS[provenance],
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
