// The files of the attribute authority that a benchmark serves: those of the demonstration, made for the run, and the
// credentials of its users. They are removed at the end.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { DEMONSTRATION_FILES, writeDemonstration } from '../../server/authority/demonstration.ts';
import { temporaryFolder } from '../processes/ending.ts';
import type { Running } from '../processes/stage.ts';

/** The credentials that a user sends: chain (PEM) and attribute certificate (XML, or ''). */
export interface Credentials {
  readonly chain: string;
  readonly attributeCertificate: string;
}

/** A user with roles at this site, or one whose roles an attribute certificate maps. */
export type Who = 'user' | 'visitor';

/** Flags for the server, its signing certificate (PEM), its audit file, and the credentials of users. */
export interface BenchAuthority extends Running {
  readonly flags: readonly string[];
  readonly certificate: string;
  readonly auditLog: string;
  readonly credentials: Readonly<Record<Who, Credentials>>;
}

/** Makes the files in a separate directory, which also gets the audit file. Cost: 1 s for keys. */
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
