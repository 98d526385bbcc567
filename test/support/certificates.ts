// Certificates, CRLs and proxies for tests, with any name, extension, time and error. Their keys are P-256, or RSA keys
// of the test, which is fast enough for hundreds. tlsInFrontOf puts HTTPS in front of a plain server.
// opensslCertificates.ts has certificates made by openssl.
import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type AddressInfo, connect } from 'node:net';
import { createServer } from 'node:tls';
import {
  bitString as bits,
  explicit,
  octetString as octets,
  sequence,
  set,
  encodeTagged as element,
  time,
} from '../../server/authority/issuance.ts';
import { type Certificate, parseCertificate } from '../../server/authority/x509/certificate.ts';

export { bits, element, explicit, sequence, set, time };

/** An attribute of a name. A string value becomes a UTF8String; bytes are DER. */
export type Attribute = readonly [type: string, value: string | Uint8Array];

/** A key pair of P-256 or RSA. */
export interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** A certificate and its keys. */
export interface Made {
  readonly der: Buffer;
  readonly pem: string;
  readonly certificate: Certificate;
  readonly subject: Uint8Array;
  readonly keys: Keys;
}

/** The parts of a certificate; the defaults are those of an end entity. Without `issuer` it is self-signed. */
export interface Plan {
  readonly subject: readonly Attribute[] | Uint8Array;
  readonly issuer?: Pick<Made, 'subject' | 'keys'>;
  readonly keys?: Keys;
  readonly extensions?: readonly Uint8Array[];
  readonly serialNumber?: bigint;
  readonly notBefore?: number;
  readonly notAfter?: number;
}

/** The time at which tests validate certificates: 2025-06-01. Certificates are valid for a year around it. */
export const AT = Date.UTC(2025, 5, 1) / 1000;
const HALF_YEAR = 182 * 86_400;

const TYPES: Readonly<Record<string, string>> = {
  CN: '2.5.4.3',
  C: '2.5.4.6',
  O: '2.5.4.10',
  OU: '2.5.4.11',
  DC: '0.9.2342.19200300.100.1.25',
  emailAddress: '1.2.840.113549.1.9.1',
};
const ECDSA_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const RSA_SHA256 = sequence(oid('1.2.840.113549.1.1.11'), element(0x05));

export function newKeys(): Keys {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

/** A name with one attribute per RDN. */
export function nameDer(attributes: readonly Attribute[]): Buffer {
  return sequence(
    ...attributes.map(([type, value]) =>
      set(sequence(oid(TYPES[type] ?? type), typeof value === 'string' ? utf8(value) : value)),
    ),
  );
}

export function extension(id: string, value: Uint8Array, isCritical = false): Buffer {
  return sequence(oid(id), ...(isCritical ? [boolean(true)] : []), octets(value));
}

export function basicConstraints(isCa: boolean, pathLength?: number): Buffer {
  const length = pathLength === undefined ? [] : [integer(pathLength)];
  return extension('2.5.29.19', sequence(...(isCa ? [boolean(true)] : []), ...length), true);
}

/** keyUsage with these bits: 0 digitalSignature, 5 keyCertSign, 6 cRLSign. */
export function keyUsage(...set: readonly number[]): Buffer {
  const value = set.reduce((sum, bit) => sum | (0x80 >> bit), 0);
  const unused = value === 0 ? 0 : 7 - Math.max(...set);
  return extension('2.5.29.15', bits(Buffer.of(value), unused), true);
}

export function caExtensions(pathLength?: number): readonly Buffer[] {
  return [basicConstraints(true, pathLength), keyUsage(5, 6)];
}

/** nameConstraints of general names in DER. */
export function nameConstraints(lists: {
  readonly permitted?: readonly Uint8Array[];
  readonly excluded?: readonly Uint8Array[];
}): Buffer {
  const subtrees = (bases: readonly Uint8Array[] = []): Buffer[] => bases.map((base) => sequence(base));
  const permitted = lists.permitted ? [explicit(0, ...subtrees(lists.permitted))] : [];
  const excluded = lists.excluded ? [explicit(1, ...subtrees(lists.excluded))] : [];
  return extension('2.5.29.30', sequence(...permitted, ...excluded), true);
}

/** subjectAltName of general names in DER. */
export function subjectAltNames(...names: readonly Uint8Array[]): Buffer {
  return extension('2.5.29.17', sequence(...names));
}

export const generalName = {
  email: (text: string): Buffer => implicit(1, Buffer.from(text)),
  dns: (text: string): Buffer => implicit(2, Buffer.from(text)),
  uri: (text: string): Buffer => implicit(6, Buffer.from(text)),
  ip: (...bytes: readonly number[]): Buffer => implicit(7, Buffer.from(bytes)),
  directory: (name: Uint8Array): Buffer => explicit(4, name),
  registeredId: (text: string): Buffer => implicit(8, oid(text).subarray(2)),
} as const;

const INHERIT_ALL = '1.3.6.1.5.5.7.21.1';

/** proxyCertInfo (RFC 3820, section 3.8). */
export function proxyCertInfo(options: { readonly language?: string; readonly pathLength?: number } = {}): Buffer {
  const length = options.pathLength === undefined ? [] : [integer(options.pathLength)];
  const policy = sequence(oid(options.language ?? INHERIT_ALL));
  return extension('1.3.6.1.5.5.7.1.14', sequence(...length, policy), true);
}

let serials = 1n;

/** Makes a certificate and parses it. */
export function make(plan: Plan): Made {
  const keys = plan.keys ?? newKeys();
  const subject = plan.subject instanceof Uint8Array ? plan.subject : nameDer(plan.subject);
  const issuer = plan.issuer ?? { subject, keys };
  const list = plan.extensions?.length ? [explicit(3, sequence(...plan.extensions))] : [];
  const toBeSigned = sequence(
    explicit(0, integer(2)),
    integer(plan.serialNumber ?? serials++),
    algorithmOf(issuer.keys),
    issuer.subject,
    sequence(time(plan.notBefore ?? AT - HALF_YEAR), time(plan.notAfter ?? AT + HALF_YEAR)),
    subject,
    keys.publicKey.export({ format: 'der', type: 'spki' }),
    ...list,
  );
  const der = signed(toBeSigned, issuer.keys);
  return { der, pem: pemOf('CERTIFICATE', der), certificate: parseCertificate(der), subject, keys };
}

/** A CA with this common name, self-signed or issued by another CA. */
export function makeCa(name: string, plan: Partial<Plan> = {}): Made {
  return make({
    subject: [
      ['O', 'Test'],
      ['CN', name],
    ],
    extensions: caExtensions(),
    ...plan,
  });
}

export function makeUser(name: string, issuer: Made, plan: Partial<Plan> = {}): Made {
  return make({
    subject: [
      ['O', 'Test'],
      ['CN', name],
    ],
    issuer,
    extensions: [keyUsage(0)],
    ...plan,
  });
}

/** A proxy of a user or of another proxy. By default it inherits all rights (RFC 3820). */
export function makeProxy(issuer: Made, plan: Partial<Plan> = {}): Made {
  return make({ subject: below(issuer, 'CN', '1234'), issuer, extensions: [proxyCertInfo()], ...plan });
}

/** The issuer's name with one more attribute. */
function below({ subject }: Pick<Made, 'subject'>, type: string, value: string): Buffer {
  const { rdns } = contentsOf(subject);
  return sequence(rdns, contentsOf(nameDer([[type, value]])).rdns);
}

function contentsOf(der: Uint8Array): { readonly rdns: Uint8Array } {
  const lengthBytes = der[1]! < 0x80 ? 1 : 1 + (der[1]! & 0x7f);
  return { rdns: der.subarray(1 + lengthBytes) };
}

/** A CRL, current around `AT` by default. `extensions` and `entryExtensions` are DER. */
export interface CrlPlan {
  readonly issuer: { readonly subject: Uint8Array; readonly keys: Pick<Keys, 'privateKey'> };
  readonly revoked?: readonly bigint[];
  readonly thisUpdate?: number;
  readonly nextUpdate?: number | 'none';
  readonly extensions?: readonly Uint8Array[];
  readonly entryExtensions?: readonly Uint8Array[];
}

/** The cRLNumber extension, which every CRL usually has. */
export const CRL_NUMBER = extension('2.5.29.20', integer(1));

/** Makes a CRL in DER. */
export function makeCrl(plan: CrlPlan): Buffer {
  const entryExtensions = plan.entryExtensions ? [sequence(...plan.entryExtensions)] : [];
  const entries = (plan.revoked ?? []).map((serial) => sequence(integer(serial), time(AT - 10), ...entryExtensions));
  const next = plan.nextUpdate === 'none' ? [] : [time(plan.nextUpdate ?? AT + 86_400)];
  const list = plan.extensions ?? [CRL_NUMBER];
  return signed(
    sequence(
      integer(1),
      algorithmOf(plan.issuer.keys),
      plan.issuer.subject,
      time(plan.thisUpdate ?? AT - 86_400),
      ...next,
      ...(entries.length > 0 ? [sequence(Buffer.concat(entries))] : []),
      ...(list.length > 0 ? [explicit(0, sequence(...list))] : []),
    ),
    plan.issuer.keys,
  );
}

function algorithmOf({ privateKey }: Pick<Keys, 'privateKey'>): Buffer {
  return privateKey.asymmetricKeyType === 'rsa' ? RSA_SHA256 : ECDSA_SHA256;
}

function signed(toBeSigned: Buffer, keys: Pick<Keys, 'privateKey'>): Buffer {
  const signature = createSign('sha256').update(toBeSigned).sign(keys.privateKey);
  return sequence(toBeSigned, algorithmOf(keys), bits(signature));
}

export function pemOf(label: string, der: Uint8Array): string {
  const lines = Buffer.from(der).toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

/** An element of a type that no certificate contains. */
export const NONSENSE = element(0x13, Buffer.from('nonsense'));

/** A context-specific primitive: `[n]` replaces its tag. */
export function implicit(n: number, content: Uint8Array): Buffer {
  return element(0x80 | n, content);
}

/** INTEGER, of any size and sign. */
export function integer(value: bigint | number): Buffer {
  let rest = BigInt(value);
  const bytes: number[] = [];
  do {
    bytes.unshift(Number(rest & 0xffn));
    rest >>= 8n;
  } while (!(rest === 0n && bytes[0]! < 0x80) && !(rest === -1n && bytes[0]! >= 0x80));
  return element(0x02, Buffer.from(bytes));
}

export function boolean(value: boolean): Buffer {
  return element(0x01, Buffer.of(value ? 0xff : 0));
}

/** OBJECT IDENTIFIER from its dotted form. */
export function oid(text: string): Buffer {
  const [first = 0n, second = 0n, ...rest] = text.split('.').map(BigInt);
  const bytes = [first * 40n + second, ...rest].flatMap((arc) => {
    const digits = [Number(arc & 0x7fn)];
    for (let more = arc >> 7n; more > 0n; more >>= 7n) digits.unshift(Number(more & 0x7fn) | 0x80);
    return digits;
  });
  return element(0x06, Buffer.from(bytes));
}

export function utf8(text: string): Buffer {
  return element(0x0c, Buffer.from(text));
}

const TEN_YEARS = 10 * 365 * 86_400;

/** Later than any test run. */
export const FAR = AT + 2 * TEN_YEARS;

/** The CA of the certificates of test servers. */
export const AUTHORITY: Made = makeCa('An authority of tests', { notBefore: AT - TEN_YEARS, notAfter: FAR });

/** A certificate of the test CA for a name. The plan overrides the defaults. */
export function serverCertificate(plan: Partial<Plan> = {}, name = 'localhost'): Made {
  const times = { notBefore: AT - TEN_YEARS, notAfter: FAR };
  const extensions = [subjectAltNames(generalName.dns(name))];
  return make({ subject: [['CN', name]], issuer: AUTHORITY, extensions, ...times, ...plan });
}

/** A running server; `connections` counts accepted connections. */
export interface TlsServer {
  readonly origin: string;
  connections(): number;
  close(): void;
}

/** Puts TLS in front of a plain server with an http origin. */
export async function tlsInFrontOf(plain: string, certificate = serverCertificate()): Promise<TlsServer> {
  let connections = 0;
  const key = certificate.keys.privateKey.export({ format: 'pem', type: 'pkcs8' });
  const server = createServer({ cert: certificate.pem, key }, (socket) => {
    const plainSocket = connect(Number(new URL(plain).port), '127.0.0.1');
    socket.pipe(plainSocket).pipe(socket);
    for (const one of [socket, plainSocket]) one.on('error', () => void [socket.destroy(), plainSocket.destroy()]);
  });
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  return {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    close: () => server.close(),
  };
}
