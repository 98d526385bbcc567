// What `authority call` does: asks an attribute authority over SOAP and prints the answer. A small client, for
// operators. Knows no flags; callCommand.ts does.
import { writeFileSync } from 'node:fs';
import { attempt } from '../../../data/files.ts';
import { OperationError } from '../../../data/operationError.ts';
import { inspect } from '../../authority/inspect.ts';
import { printable } from '../../authority/x509/certificate.ts';
import { FILE_LIMITS } from '../../authority/x509/search.ts';
import { holdsPrivateKey } from '../../authority/x509/pem.ts';
import { bytesOf } from '../fileBytes.ts';
import { askServer, type Question } from '../question.ts';
import { tableText } from '../terminal.ts';
import { NAMESPACES, type Operation, REQ_AUTHORISATION, SERVICE_PATH } from '../../authority/soap/protocol.ts';
import { readAnswer, requestBytes } from '../../authority/soap/requests.ts';
import type { Result } from '../../authority/soap/answers.ts';

/**
 * What is to be asked: an address, an operation, and the values of its parts in their order; and whom to believe and
 * who asks, where a proxy in front wants TLS.
 */
export interface AuthorityCall {
  readonly url: string;
  readonly operation: Operation;
  readonly values: readonly string[];
  readonly tls: Pick<Question, 'ca' | 'cert' | 'key'>;
}

/** An answer may hold 100,000 hosts. */
const ANSWER_BYTES_MAX = 64 << 20;
const KEEP_HINT = '--out FILE keeps the attribute certificate itself';
/** Signing takes milliseconds; an authority that is silent this long does not answer any more. */
const WAIT_MS_MAX = 60_000;

/**
 * Asks, and prints each result: a line for a text, a line an entry for a list. Of an attribute certificate that was
 * granted it prints what it says; the certificate itself goes into the file `out`, and is printed only where it cannot
 * be read. The address may leave out the name of the service.
 * Throws OperationError `network` where there is no answer, `refused` for a fault and for what is not granted, `file`
 * where it cannot be written.
 */
export async function callAuthority(call: AuthorityCall, print: (line: string) => void, out?: string): Promise<void> {
  const url = serviceUrl(call.url);
  const { status, body } = await posted(url, call);
  const answer = readAnswer(call.operation, body);
  if (answer.kind === 'unreadable') throw new OperationError('network', `${url} answered ${status}, and no SOAP`);
  if (answer.kind === 'fault') throw new OperationError('refused', printable(`fault ${answer.code}: ${answer.text}`));
  const refusal = refusalIn(call.operation, answer.results);
  if (refusal !== undefined) throw new OperationError('refused', refusal);
  if (call.operation.name === REQ_AUTHORISATION.name && printGrant(String(answer.results[0]), print, out)) return;
  for (const [i, [name]] of call.operation.results.entries()) {
    for (const line of linesOf(name, answer.results[i] ?? '')) print(printable(line));
  }
}

/** Whole blocks: base64 has no dash, so that none reaches from one that does not end over a key into the next. */
const CERTIFICATES = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----[^-]*-----END \1-----\r?\n?/g;

/**
 * The certificates of a PEM file, without what else stands there: files of proxies hold the key of the proxy between
 * them, which nobody but its owner may have. `warn` is told of a key that stays here. Throws OperationError `file`, and
 * `input` where there is no certificate, or far more than a service takes.
 */
export function certificatesIn(path: string, warn: (line: string) => void): string {
  const text = textIn(path, 'latin1');
  const certificates = (text.match(CERTIFICATES) ?? []).map((pem) => (pem.endsWith('\n') ? pem : `${pem}\n`));
  if (certificates.length === 0) throw new OperationError('input', `${path} holds no certificate in PEM`);
  if (holdsPrivateKey(text)) warn(`${path} holds a private key too, which is not sent: only its certificates are`);
  return certificates.join('');
}

/** The files of a TLS connection: CAs, and a client's certificate with its key, in its own file or another. */
export interface TlsFiles {
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

/** What is in them. Throws OperationError `file`, and `usage` for a key without a certificate. */
export function tlsOf({ tlsCa, tlsCert, tlsKey = tlsCert }: TlsFiles): AuthorityCall['tls'] {
  if (tlsCert === undefined && tlsKey !== undefined) throw new OperationError('usage', '--tls-key wants --tls-cert');
  const ca = tlsCa === undefined ? {} : { ca: bytesOf(tlsCa) };
  return tlsCert === undefined || tlsKey === undefined ? ca : { ...ca, cert: bytesOf(tlsCert), key: bytesOf(tlsKey) };
}

/**
 * The text of an attribute certificate. Throws OperationError `file`, and `input` for a file with a private key, or of
 * far more than a service takes.
 */
export function attributesIn(path: string): string {
  const text = textIn(path, 'utf8');
  if (holdsPrivateKey(text)) throw new OperationError('input', `${path} holds a private key: nothing of it is sent`);
  return text;
}

/** Judged before there is a text: none can be as long as a file. */
function textIn(path: string, encoding: 'latin1' | 'utf8'): string {
  const bytes = bytesOf(path);
  const { textBytes } = FILE_LIMITS;
  if (bytes.length > textBytes) throw new OperationError('input', `${path} is longer than ${textBytes / 1024} KiB`);
  return bytes.toString(encoding);
}

const NO_GRANT = { kind: 'unreadable', reason: 'What was granted is no attribute certificate.' } as const;

/** Prints what an attribute certificate says, once it is in a file; false where it is neither kept nor readable. */
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
  return printable(`${String(statCode)}: ${String(errMsg)}`);
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
    // Of TLS it may name what stands in the server's certificate, and end its line.
    const reason = printable((cause as Error).message.trim());
    throw new OperationError('network', `${url} cannot be asked: ${reason}`, cause);
  }
  throw new OperationError('network', `${url} cannot be asked: its answer does not end`);
}
