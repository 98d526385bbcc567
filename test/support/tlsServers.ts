// HTTPS servers of a test: TLS in front of a plain server on loopback, with certificates of an authority that no system
// trusts, for the name localhost unless the plan says otherwise.
import { connect, type AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { AT, generalName, type Made, make, makeCa, type Plan, subjectAltNames } from './certificates.ts';

const TEN_YEARS = 10 * 365 * 86_400;

/** A time that no test is run after. */
export const FAR = AT + 2 * TEN_YEARS;

/** The authority of these servers. */
export const AUTHORITY: Made = makeCa('An authority of tests', { notBefore: AT - TEN_YEARS, notAfter: FAR });

/** A certificate of the authority for a name, or as the plan says. */
export function serverCertificate(plan: Partial<Plan> = {}, name = 'localhost'): Made {
  const times = { notBefore: AT - TEN_YEARS, notAfter: FAR };
  const extensions = [subjectAltNames(generalName.dns(name))];
  return make({ subject: [['CN', name]], issuer: AUTHORITY, extensions, ...times, ...plan });
}

/** A running server; `connections` is how many it was asked for. */
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
