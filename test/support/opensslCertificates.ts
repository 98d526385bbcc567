// Certificates and proxies as openssl makes them, in files of a directory: what users of a grid really present. For
// tests that are skipped where openssl is not installed. certificates.ts makes stranger ones without it.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from './debian.ts';

/** A certificate made by openssl: its PEM text, its key's PEM text, and where openssl finds both. */
export interface Issued {
  readonly pem: string;
  readonly keyPem: string;
  readonly subject: string;
  readonly certificateFile: string;
  readonly keyFile: string;
}

/**
 * What openssl is asked for. `extensions` are lines of an openssl configuration; `bits` makes an RSA key of that size.
 */
export interface Order {
  readonly subject: string;
  readonly issuer?: Issued;
  readonly extensions?: readonly string[];
  readonly days?: number;
  readonly digest?: string;
  readonly bits?: number;
}

/** The lines of a CA. */
export const CA_LINES = [
  'basicConstraints=critical,CA:TRUE',
  'keyUsage=critical,keyCertSign,cRLSign',
  'subjectKeyIdentifier=hash',
];

/** The lines of a user. */
export const USER_LINES = ['basicConstraints=critical,CA:FALSE', 'keyUsage=critical,digitalSignature'];

/** The line of a proxy with all rights; the language and more can be given instead. */
export function proxyLines(info = 'language:id-ppl-inheritAll', mark = 'critical,'): readonly string[] {
  return [`proxyCertInfo=${mark}${info}`, 'keyUsage=critical,digitalSignature,keyEncipherment'];
}

/** A maker of certificates that keeps its files in `directory`. Throws what openssl complains about. */
export function opensslIn(directory: string): (order: Order) => Issued {
  let count = 0;
  return ({ subject, issuer, extensions = [], days = 30, digest = 'sha256', bits }) => {
    count++;
    const fileOf = (ending: string): string => join(directory, `${count}.${ending}`);
    const [keyFile, requestFile, certificateFile] = [fileOf('key'), fileOf('csr'), fileOf('pem')];
    const kind = bits === undefined ? ['EC', 'ec_paramgen_curve:P-256'] : ['RSA', `rsa_keygen_bits:${bits}`];
    openssl('genpkey', '-algorithm', kind[0]!, '-pkeyopt', kind[1]!, '-out', keyFile);
    writeFileSync(fileOf('cnf'), '[req]\ndistinguished_name=dn\n[dn]\n');
    const request = ['-new', '-key', keyFile, '-subj', subject, '-utf8', '-config', fileOf('cnf')];
    openssl('req', ...request, '-out', requestFile);
    const signer = issuer ? ['-CA', issuer.certificateFile, '-CAkey', issuer.keyFile] : ['-signkey', keyFile];
    writeFileSync(fileOf('ext'), `${extensions.join('\n')}\n`);
    const list = extensions.length > 0 ? ['-extfile', fileOf('ext')] : [];
    const signing = ['-req', '-in', requestFile, ...signer, '-set_serial', `${1000 + count}`, '-days', `${days}`];
    openssl('x509', ...signing, `-${digest}`, ...list, '-out', certificateFile);
    const [pem, keyPem] = [readFileSync(certificateFile, 'utf8'), readFileSync(keyFile, 'utf8')];
    return { pem, keyPem, subject, certificateFile, keyFile };
  };
}

const OPENSSL: Program = 'openssl';

function openssl(...argv: readonly string[]): void {
  const { status, stderr } = spawnSync(OPENSSL, argv, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`openssl ${argv.join(' ')}: ${stderr}`);
}
