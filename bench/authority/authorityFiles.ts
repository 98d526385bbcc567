// The authority that a benched server serves: the demonstration's files, made for the run, and what its users send.
// Removes them at the end; starts nothing.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { DEMONSTRATION_FILES, writeDemonstration } from '../../server/authority/demonstration.ts';
import { temporaryFolder } from '../processes/ending.ts';
import type { Running } from '../processes/stage.ts';

/** What a user sends: chain (PEM) and attribute certificate (XML, or ''). */
export interface Credentials {
  readonly chain: string;
  readonly attributeCertificate: string;
}

/** A user with roles at the site, or one whose roles are mapped by an attribute certificate. */
export type Who = 'user' | 'visitor';

/** Flags for the server, the certificate (PEM) that signs, the file of the audit, and what users send. */
export interface BenchAuthority extends Running {
  readonly flags: readonly string[];
  readonly certificate: string;
  readonly auditLog: string;
  readonly credentials: Readonly<Record<Who, Credentials>>;
}

/**
 * Makes the files in a directory of their own. Decisions are recorded there too, as operators do. Cost: 1 s of key
 * making.
 */
export async function openBenchAuthority(): Promise<BenchAuthority> {
  const { path: directory, remove } = temporaryFolder('catalogue-replica-bench-authority-');
  writeDemonstration(directory, Math.floor(Date.now() / 1000));
  const fileOf = (name: string): string => path.join(directory, name);
  const auditLog = fileOf('audit.log');
  const textOf = (name: string): string => readFileSync(fileOf(name), 'utf8');
  const { config, user, visitor, visitorCertificate } = DEMONSTRATION_FILES;
  return {
    flags: ['--authority', fileOf(config), '--audit-log', auditLog],
    auditLog,
    certificate: textOf('authority.pem'),
    credentials: {
      user: { chain: textOf(user), attributeCertificate: '' },
      visitor: { chain: textOf(visitor), attributeCertificate: textOf(visitorCertificate) },
    },
    stop: async () => remove(),
  };
}
