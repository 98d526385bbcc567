// The micro-benchmarks of the attribute authority: authorisation requests for roles of this site, and for mapped roles.
// The unit is an RSA-2048 signature timed in the same run. The tasks use the files of the demonstration, which they
// create.
import assert from 'node:assert/strict';
import { sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCertificate } from '../../server/authority/attributeCertificate/read.ts';
import { signatureProblem } from '../../server/authority/attributeCertificate/verify.ts';
import { type Authorise, makeAuthoriser } from '../../server/authority/authorise.ts';
import type { AuthorisationRequest } from '../../server/authority/authority.ts';
import { type AuthorityData, loadAuthority } from '../../server/authority/configuration/load.ts';
import { DEMONSTRATION_FILES, writeDemonstration } from '../../server/authority/demonstration.ts';
import { parseCertificate } from '../../server/authority/x509/certificate.ts';
import { SIGNATURE_TARGETS } from '../authority/callScenarios.ts';
import type { MicroTask } from './microTask.ts';

/** A time at which everything is valid. The clock is not used. */
const AT = 1_900_000_000;

interface Prepared {
  readonly data: AuthorityData;
  readonly requests: Readonly<Record<keyof typeof SIGNATURE_TARGETS, AuthorisationRequest>>;
}

/** Both decisions. Cost: a few RSA keys. */
export function authorityTasks(): readonly MicroTask[] {
  const { data, requests } = prepare();
  const authorise = makeAuthoriser(data);
  return (['original', 'mapped'] as const).map((provenance) =>
    taskOf({ provenance, data, authorise, request: requests[provenance] }),
  );
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
  readonly provenance: keyof typeof SIGNATURE_TARGETS;
  readonly data: AuthorityData;
  readonly authorise: Authorise;
  readonly request: AuthorisationRequest;
}

function taskOf({ provenance, data, authorise, request }: Subject): MicroTask {
  const signed = Buffer.alloc(600, 0x61);
  return {
    name: `authorise-${provenance}`,
    calibration: 'one RSA-2048 signature',
    ...SIGNATURE_TARGETS[provenance],
    run: () => authorise(request, AT),
    calibrate: () => sign('sha256', signed, data.key),
    check: () => {
      const { answer } = authorise(request, AT);
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
