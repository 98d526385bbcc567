// Attribute certificates for tests, and their verdicts by xmlsec1 and xml-crypto, which share no code with the product.
// xmlsec1 runs as a process in a temporary directory.
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignedXml } from 'xml-crypto';
import { type AttributeContent, contentXml } from '../../server/authority/attributeCertificate/content.ts';
import { readCertificate } from '../../server/authority/attributeCertificate/read.ts';
import { signatureProblem, type SignatureRules } from '../../server/authority/attributeCertificate/verify.ts';
import { parseCertificate } from '../../server/authority/x509/certificate.ts';
import { DerError } from '../../server/authority/x509/der.ts';
import type { Program } from './debian.ts';
import { AT, type Holder } from './pki.ts';

const PROGRAM: Program = 'xmlsec1';

/** Content to sign. Most tests change only the roles. */
export function contentWith(change: Partial<AttributeContent> = {}): AttributeContent {
  return {
    holder: '/O=Test/CN=User',
    issuer: '/O=Test/CN=Signer',
    issuerName: 'Partner',
    issuerSerialNumber: '4711',
    notBefore: AT - 100,
    notAfter: AT + 100,
    roles: ['staff', 'student'],
    provenance: 'original',
    ...change,
  };
}

/** The same content with the serial number of its signer. */
export function contentBy(signer: Holder, change: Partial<AttributeContent> = {}): AttributeContent {
  return contentWith({ issuerSerialNumber: String(signer.certificate.serialNumber), ...change });
}

/** The rules of a site by default. */
const RULES: SignatureRules = { algorithms: ['rsa-sha256'], allowWeak: false };

/** The product's reading of a text: its content if form and signature are good, otherwise the reason. */
export function judged(text: string, rules: SignatureRules = RULES): AttributeContent | string {
  const reading = readCertificate(text);
  if (reading.kind === 'unreadable') return reading.reason;
  const { content, signature } = reading.certificate;
  try {
    return signatureProblem(signature, parseCertificate(signature.der), rules) ?? content;
  } catch (error) {
    if (error instanceof DerError) return 'carries something that is no certificate';
    throw error;
  }
}

/** A template as another site's software would sign it: pretty-printed, with a prefix, comments and CDATA. */
export function templateOf(
  role: string,
  c14n: string,
  method = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
): string {
  const digest = method.endsWith('sha1')
    ? 'http://www.w3.org/2000/09/xmldsig#sha1'
    : 'http://www.w3.org/2001/04/xmlenc#sha256';
  return `<?xml version="1.0"?>
<!-- issued by hand -->
<attributeCertificate>
  ${contentXml(contentWith({ roles: ['ROLE'] }))
    .replaceAll('><', '>\n  <')
    .replace('ROLE', role)}
  <ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#">
    <ds:SignedInfo>
      <ds:CanonicalizationMethod Algorithm="${c14n}"/>
      <ds:SignatureMethod Algorithm="${method}"/>
      <ds:Reference URI="">
        <ds:Transforms><ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/></ds:Transforms>
        <ds:DigestMethod Algorithm='${digest}'></ds:DigestMethod>
        <ds:DigestValue/>
      </ds:Reference>
    </ds:SignedInfo>
    <ds:SignatureValue/>
    <ds:KeyInfo><ds:X509Data><ds:X509Certificate/></ds:X509Data></ds:KeyInfo>
  </ds:Signature>
</attributeCertificate>
`;
}

function xmlsec(files: Readonly<Record<string, string>>, ...argv: readonly string[]): SpawnSyncReturns<string> {
  const directory = mkdtempSync(join(tmpdir(), 'xmlsec-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text, { mode: 0o600 });
    return spawnSync(PROGRAM, argv, { cwd: directory, encoding: 'utf8' });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** `good` if xmlsec1 verifies the text at this time with these CAs (PEM); otherwise its output. */
export function xmlsecVerdict(text: string, cas: string, at = AT): string {
  const when = new Date(at * 1000).toISOString().slice(0, 19).replace('T', ' ');
  const flags = ['--verify', '--verification-gmt-time', when, '--trusted-pem', 'ca.pem', 'document.xml'];
  const { status, stderr, stdout } = xmlsec({ 'ca.pem': cas, 'document.xml': text }, ...flags);
  return status === 0 ? 'good' : `${status}: ${stderr}${stdout}`;
}

/** Signs a template with xmlsec1. Key and certificate are PEM. */
export function xmlsecSigned(template: string, key: string, certificate: string): string {
  const files = { 'key.pem': key, 'certificate.pem': certificate, 'template.xml': template };
  const flags = ['--sign', '--privkey-pem', 'key.pem,certificate.pem', 'template.xml'];
  const { status, stderr, stdout } = xmlsec(files, ...flags);
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

export function xmlCryptoVerdict(text: string, publicCert: string): boolean {
  const signature = /<(?:\w+:)?Signature[ >][^]*<\/(?:\w+:)?Signature>/.exec(text)?.[0] ?? '';
  const verifier = new SignedXml({ publicCert });
  verifier.loadSignature(signature);
  try {
    return verifier.checkSignature(text);
  } catch {
    return false;
  }
}
