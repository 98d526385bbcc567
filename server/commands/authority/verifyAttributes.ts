// `authority verify-attributes`: validates an attribute certificate like a service that grants its holder access.
import type { Command } from 'commander';
import { epochMs } from '../../observe/clock.ts';
import { example, type Outputs, valueOption } from '../parts.ts';
import { INSTANT } from '../../settings/values.ts';
import { OperationError } from '../../../data/operationError.ts';
import {
  type AttributeContent,
  SIGNATURE_ALGORITHMS,
  timeFields,
} from '../../authority/attributeCertificate/content.ts';
import { readCertificate, type ReadCertificate, decodeFileText } from '../../authority/attributeCertificate/read.ts';
import { signatureProblem } from '../../authority/attributeCertificate/verify.ts';
import { type Certificate, replaceUnprintable, printSubject } from '../../authority/x509/certificate.ts';
import { parseSingleCertificate, readCertificateFile } from '../../authority/x509/search.ts';
import { nameSetKey, setKeyFromText } from '../../authority/x509/name.ts';
import { bytesOf } from '../question.ts';
import { tableText } from '../terminal.ts';

type AttributesFlags = Omit<AttributesRequest, 'file' | 'at'> & { readonly time?: number };

export function addVerifyAttributes(group: Command, { stdout }: Outputs): void {
  group
    .command('verify-attributes')
    .description('Validate an attribute certificate as a service does: signer, time and holder.')
    .argument('<file>', 'file with an attribute certificate (XML)')
    .requiredOption('--signer <file>', 'PEM file of the certificate of the authority that must have signed it')
    .option('--holder <name>', 'required holder, /TYPE=value/TYPE=value (default: any)')
    .option('--allow-sha1', 'accept SHA-1, as services with rsa-sha1 in externalSignatures do')
    .addOption(valueOption('--time', 'time of the validation (default: now)', INSTANT))
    .addHelpText('after', '\nExit codes: 0 if accepted, 1 with the reason if refused, 2 for wrong usage.')
    .addHelpText(
      'after',
      example('authority verify-attributes --signer authority.pem --holder /O=Site/CN=Name attributes.xml'),
    )
    .action((file: string, { time, ...flags }: AttributesFlags) => {
      verifyAttributes({ file, at: time ?? epochMs() / 1000, ...flags }, (line) => void stdout.write(`${line}\n`));
    });
}

interface AttributesRequest {
  readonly file: string;
  /** File with the certificate of the authority that must have signed it. */
  readonly signer: string;
  readonly holder?: string;
  /** Whether RSA-SHA1 is accepted, as by services that list it in `externalSignatures`. */
  readonly allowSha1?: boolean;
  /** Seconds since 1970. */
  readonly at: number;
}

/** Throws OperationError `refused` with the reason, `input` for the signer's file, `usage` for an invalid `holder`. */
function verifyAttributes(request: AttributesRequest, print: (line: string) => void): void {
  const { file, signer, holder, at } = request;
  if (holder !== undefined && setKeyFromText(holder) === undefined) {
    throw new OperationError('usage', `--holder: got ${JSON.stringify(holder)}, want a name /TYPE=value/TYPE=value`);
  }
  const trusted = readCertificateFile(bytesOf(signer), 'passed over');
  if (trusted.kind === 'unreadable') throw new OperationError('input', `${signer}: ${trusted.reason}`);
  const reading = readCertificate(decodeFileText(bytesOf(file)));
  if (reading.kind === 'unreadable') throw refused(file, reading.reason);
  const { content } = reading.certificate;
  const problem = signerProblem(reading.certificate, trusted.all[0]!, request) ?? contentProblem(content, holder, at);
  if (problem !== undefined) throw refused(file, problem);
  const rows = [
    ['holder', content.holder],
    ['roles', content.roles.join(', ')],
    ['provenance', content.provenance],
    ['issuer name', content.issuerName],
    ['valid to', `${timeFields(content.notAfter)} UTC`],
  ];
  print(`accepted\n${tableText(rows.map((row) => row.map(replaceUnprintable)))}`);
}

function refused(file: string, reason: string): OperationError {
  return new OperationError('refused', `refused: ${file}: the attribute certificate ${replaceUnprintable(reason)}`);
}

/** The trusted key must have signed it. The enclosed certificate only needs the same key and name. */
function signerProblem(
  { content, signature }: ReadCertificate,
  trusted: Certificate,
  { at, allowSha1 = false }: AttributesRequest,
): string | undefined {
  const carried = parseSingleCertificate(signature.der);
  if (!carried) return 'is signed by something that is no certificate';
  if (!trusted.publicKey || !carried.publicKey?.equals(trusted.publicKey)) {
    return `is signed by the key of ${printSubject(carried)}, and not by that of ${printSubject(trusted)}`;
  }
  const algorithms = SIGNATURE_ALGORITHMS.filter(({ digest }) => allowSha1 || digest !== 'sha1').map(
    ({ name }) => name,
  );
  const problem = signatureProblem(signature, carried, { algorithms, allowWeak: false });
  if (problem !== undefined) return problem;
  if (setKeyFromText(content.issuer) !== nameSetKey(trusted.subject)) {
    return `names ${content.issuer} as its issuer, and is signed by ${printSubject(trusted)}`;
  }
  if (at < trusted.notBefore) return 'is signed by a certificate that is not valid yet';
  return at > trusted.notAfter ? 'is signed by a certificate that has expired' : undefined;
}

function contentProblem(content: AttributeContent, holder: string | undefined, at: number): string | undefined {
  if (at < content.notBefore) return `is not valid before ${timeFields(content.notBefore)} UTC`;
  if (at > content.notAfter) return `has expired at ${timeFields(content.notAfter)} UTC`;
  if (holder === undefined) return undefined;
  // Other software may write names in another form. Such a name matches none.
  const key = setKeyFromText(content.holder);
  return key !== undefined && key === setKeyFromText(holder)
    ? undefined
    : `is of ${content.holder}, and not of ${holder}`;
}
