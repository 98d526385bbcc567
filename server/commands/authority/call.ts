// `authority call`: sends a request to an attribute authority over SOAP and prints the response.
import { Argument, type Command } from 'commander';
import { OperationError } from '../../../data/operationError.ts';
import { example, type Outputs } from '../parts.ts';
import {
  GET_TRUSTED_HOST_INFO,
  NAMESPACES,
  type Operation,
  OPERATIONS,
  REQ_AUTHORISATION,
  SERVICE_PATH,
} from '../../authority/soap/protocol.ts';
import { writeFileSync } from 'node:fs';
import { attempt } from '../../../data/files.ts';
import { inspect } from '../../authority/inspect.ts';
import { replaceUnprintable } from '../../authority/x509/certificate.ts';
import { FILE_LIMITS } from '../../authority/x509/search.ts';
import { holdsPrivateKey } from '../../authority/x509/pem.ts';
import { askServer, bytesOf, type Question } from '../question.ts';
import { tableText } from '../terminal.ts';
import { readAnswer, requestBytes } from '../../authority/soap/requests.ts';
import type { Result } from '../../authority/soap/answers.ts';

interface CallFlags extends TlsFiles {
  readonly cert?: string;
  readonly attCert?: string;
  readonly role?: string;
  readonly out?: string;
}

export function addCallCommand(group: Command, { stdout, stderr }: Outputs): void {
  const names = OPERATIONS.map(({ name }) => name);
  group
    .command('call')
    .description('Send a request to an attribute authority over SOAP and print its response.')
    .argument('<url>', 'address of the service, or its base URL')
    .addArgument(new Argument('<operation>', 'operation to call').choices(names))
    .option('--cert <file>', 'reqAuthorisation: PEM file of the proxy and its chain; keys in it are not sent')
    .option('--att-cert <file>', "reqAuthorisation: file of another site's attribute certificate (default: none)")
    .option('--out <file>', 'reqAuthorisation: file to write the attribute certificate to')
    .option('--role <role>', 'getTrustedHostInfo: a role of that site')
    .option('--tls-ca <file>', 'https: PEM file of the CAs of the server (default: those of Node)')
    .option('--tls-cert <file>', 'https: PEM file of a client certificate, if a proxy requires one')
    .option('--tls-key <file>', 'https: PEM file of its key (default: in the same file)')
    .addHelpText('after', HINT)
    .addHelpText('after', example('authority call http://localhost:8080 getTrustedHostInfo --role academic'))
    .action(async (url: string, name: string, flags: CallFlags) => {
      const operation = OPERATIONS.find((one) => one.name === name)!;
      refuseForeign(operation, flags);
      const { cert = '', attCert, role = '', out } = flags;
      const warn = (line: string): void => void stderr.write(`${line}\n`);
      const values =
        operation === GET_TRUSTED_HOST_INFO
          ? [role]
          : [certificatesIn(cert, warn), attCert === undefined ? '' : attributesIn(attCert)];
      await callAuthority({ url, operation, values, tls: tlsOf(flags) }, (line) => void stdout.write(`${line}\n`), out);
    });
}

const HINT = `
Exit codes: 0 if the authority responds, 1 with the reason if it denies access, returns a fault or is unreachable, 2 for
wrong usage.`;

/** A flag of the other operation is an error that would otherwise be ignored silently. */
function refuseForeign(operation: Operation, { cert, attCert, role, out }: CallFlags): void {
  const isAuthorisation = operation === REQ_AUTHORISATION;
  if (isAuthorisation && cert === undefined) throw new OperationError('usage', 'reqAuthorisation wants --cert <file>');
  if (isAuthorisation && role !== undefined) throw new OperationError('usage', '--role belongs to getTrustedHostInfo');
  if (!isAuthorisation && [cert, attCert, out].some((file) => file !== undefined)) {
    throw new OperationError('usage', '--cert, --att-cert and --out belong to reqAuthorisation');
  }
}

interface AuthorityCall {
  readonly url: string;
  readonly operation: Operation;
  /** In the order of the operation's parts. */
  readonly values: readonly string[];
  readonly tls: Pick<Question, 'ca' | 'cert' | 'key'>;
}

/** A response may list 100,000 hosts. */
const ANSWER_BYTES_MAX = 64 << 20;
const KEEP_HINT = '--out FILE keeps the attribute certificate itself';
/** Signing takes milliseconds. An authority that sends nothing for this long is unresponsive. */
const WAIT_MS_MAX = 60_000;

/**
 * Sends the request and prints each result: one line per text, one line per entry of a list. Describes a granted
 * attribute certificate; the certificate itself goes to the file `out` and is only printed if it is unreadable. The URL
 * may omit the path of the service. Throws OperationError `network` without a response, `refused` for a fault or a
 * denial, `file` if `out` cannot be written.
 */
async function callAuthority(call: AuthorityCall, print: (line: string) => void, out?: string): Promise<void> {
  const url = serviceUrl(call.url);
  const { status, body } = await posted(url, call);
  const answer = readAnswer(call.operation, body);
  if (answer.kind === 'unreadable') throw new OperationError('network', `${url} answered ${status}, and no SOAP`);
  if (answer.kind === 'fault')
    throw new OperationError('refused', replaceUnprintable(`fault ${answer.code}: ${answer.text}`));
  const refusal = refusalIn(call.operation, answer.results);
  if (refusal !== undefined) throw new OperationError('refused', refusal);
  if (call.operation.name === REQ_AUTHORISATION.name && printGrant(String(answer.results[0]), print, out)) return;
  for (const [i, [name]] of call.operation.results.entries()) {
    for (const line of linesOf(name, answer.results[i] ?? '')) print(replaceUnprintable(line));
  }
}

/** Whole blocks only. Base64 has no dash, so an unterminated block cannot extend over a key to the next one. */
const CERTIFICATES = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----[^-]*-----END \1-----\r?\n?/g;

/**
 * The certificates of a PEM file without its other content: a proxy file also contains the private key, which must not
 * leave its owner. `warn` reports such a key. Throws OperationError `file`, or `input` without a certificate or for a
 * file far longer than a service accepts.
 */
function certificatesIn(path: string, warn: (line: string) => void): string {
  const text = textIn(path, 'latin1');
  const certificates = (text.match(CERTIFICATES) ?? []).map((pem) => (pem.endsWith('\n') ? pem : `${pem}\n`));
  if (certificates.length === 0) throw new OperationError('input', `${path} holds no certificate in PEM`);
  if (holdsPrivateKey(text)) warn(`${path} holds a private key too, which is not sent: only its certificates are`);
  return certificates.join('');
}

/** The PEM files of a TLS connection: CAs, client certificate, and its key, which may be in the certificate's file. */
interface TlsFiles {
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

/** Reads them. Throws OperationError `file`, and `usage` for a key without a certificate. */
function tlsOf({ tlsCa, tlsCert, tlsKey = tlsCert }: TlsFiles): AuthorityCall['tls'] {
  if (tlsCert === undefined && tlsKey !== undefined) throw new OperationError('usage', '--tls-key needs --tls-cert');
  const ca = tlsCa === undefined ? {} : { ca: bytesOf(tlsCa) };
  return tlsCert === undefined || tlsKey === undefined ? ca : { ...ca, cert: bytesOf(tlsCert), key: bytesOf(tlsKey) };
}

/** The text of an attribute certificate. Throws OperationError `file` and `input`. */
function attributesIn(path: string): string {
  const text = textIn(path, 'utf8');
  if (holdsPrivateKey(text)) throw new OperationError('input', `${path} holds a private key: nothing of it is sent`);
  return text;
}

/** Checked before the conversion to a string, which cannot be as long as a file. */
function textIn(path: string, encoding: 'latin1' | 'utf8'): string {
  const bytes = bytesOf(path);
  const { textBytes } = FILE_LIMITS;
  if (bytes.length > textBytes) throw new OperationError('input', `${path} is longer than ${textBytes / 1024} KiB`);
  return bytes.toString(encoding);
}

const NO_GRANT = { kind: 'unreadable', reason: 'What was granted is no attribute certificate.' } as const;

/** Stores a certificate in `out` and describes it. Returns false if it is neither stored nor readable. */
function printGrant(certificate: string, print: (line: string) => void, out: string | undefined): boolean {
  if (out !== undefined) attempt(`cannot write ${out}`, () => writeFileSync(out, certificate));
  const inspection = /^\s*</.test(certificate) ? inspect(Buffer.from(certificate)) : NO_GRANT;
  const isRead = inspection.kind === 'read';
  print(isRead ? inspection.tables.map((rows) => tableText(rows)).join('\n') : inspection.reason);
  if (isRead || out !== undefined) print(`\n${out === undefined ? KEEP_HINT : `written to ${out}`}`);
  return isRead || out !== undefined;
}

function serviceUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:/i.test(text)) {
    throw new OperationError('usage', `${text}: want the http or https URL of an attribute authority`);
  }
  return text.endsWith('.wsdl') ? text : text.replace(/\/*$/, SERVICE_PATH);
}

function refusalIn({ name }: Operation, [, statCode, errMsg]: readonly Result[]): string | undefined {
  if (name !== REQ_AUTHORISATION.name || statCode === 'AccessGranted') return undefined;
  return replaceUnprintable(`${String(statCode)}: ${String(errMsg)}`);
}

function linesOf(name: string, result: Result): readonly string[] {
  if (typeof result !== 'string') return [`${name}: ${result.length}`, ...result.map((text) => `  ${text}`)];
  return result.includes('\n') ? [`${name}:`, ...result.split(/\r?\n/)] : [`${name}: ${result}`.trimEnd()];
}

async function posted(
  url: string,
  { operation, values, tls }: AuthorityCall,
): Promise<{ status: number; body: Buffer }> {
  const headers = {
    'Content-Type': 'text/xml; charset=utf-8',
    SOAPAction: `"${NAMESPACES.service}#${operation.name}"`,
  };
  const bounds = { timeout: WAIT_MS_MAX, bytesMax: ANSWER_BYTES_MAX, ...tls };
  try {
    const question = { body: requestBytes(operation, values), headers, ...bounds };
    const { status, body } = await askServer(new URL(url), question);
    if (body) return { status, body };
  } catch (cause) {
    // An error of TLS may quote the server's certificate, including line ends.
    const reason = replaceUnprintable((cause as Error).message.trim());
    throw new OperationError('network', `${url} cannot be asked: ${reason}`, cause);
  }
  throw new OperationError('network', `${url} cannot be asked: its answer does not end`);
}
