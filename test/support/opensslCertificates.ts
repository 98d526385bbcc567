// Certificates and proxies made by openssl, in files of a directory: the ones that users of a grid present. Tests that
// use them are skipped if openssl is not installed. certificates.ts makes unusual ones without openssl.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from './debian.ts';

/** A certificate made by openssl, the PEM texts of it and its key, and their files. */
export interface Issued {
  readonly pem: string;
  readonly keyPem: string;
  readonly subject: string;
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** A request to openssl. `extensions` are lines of an openssl configuration; `bits` makes an RSA key of that size. */
export interface Order {
  readonly subject: string;
  readonly issuer?: Issued;
  readonly extensions?: readonly string[];
  readonly days?: number;
  readonly digest?: string;
  readonly bits?: number;
}

/** The extension lines of a CA. */
export const CA_LINES = [
  'basicConstraints=critical,CA:TRUE',
  'keyUsage=critical,keyCertSign,cRLSign',
  'subjectKeyIdentifier=hash',
];

/** The extension lines of a user. */
export const USER_LINES = ['basicConstraints=critical,CA:FALSE', 'keyUsage=critical,digitalSignature'];

/** The extension lines of a proxy, by default with all rights. */
export function proxyLines(info = 'language:id-ppl-inheritAll', mark = 'critical,'): readonly string[] {
  return [`proxyCertInfo=${mark}${info}`, 'keyUsage=critical,digitalSignature,keyEncipherment'];
}

/** Returns a maker of certificates that keeps its files in `directory`. It throws the errors of openssl. */
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
