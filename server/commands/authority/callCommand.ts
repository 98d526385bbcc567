// `authority call`: its flags and help.
// The work is in call.ts, loaded when the command runs.
import { Argument, type Command } from 'commander';
import { OperationError } from '../../../data/operationError.ts';
import { example, type Outputs } from '../parts.ts';
import type { TlsFiles } from './call.ts';
import { GET_TRUSTED_HOST_INFO, type Operation, OPERATIONS, REQ_AUTHORISATION } from '../../authority/soap/protocol.ts';

interface CallFlags extends TlsFiles {
  readonly cert?: string;
  readonly attCert?: string;
  readonly role?: string;
  readonly out?: string;
}

/** Adds the command that asks an authority. */
export function addCallCommand(group: Command, { stdout, stderr }: Outputs): void {
  const names = OPERATIONS.map(({ name }) => name);
  group
    .command('call')
    .description('Ask an attribute authority over SOAP and print its answer.')
    .argument('<url>', 'address of the service, or its base URL')
    .addArgument(new Argument('<operation>', 'what to ask').choices(names))
    .option(
      '--cert <file>',
      'reqAuthorisation: PEM file of the proxy certificate and its chain; keys in it are not sent',
    )
    .option('--att-cert <file>', 'reqAuthorisation: file of an attribute certificate of another site (default: none)')
    .option('--out <file>', 'reqAuthorisation: keep the attribute certificate itself there; what it says is printed')
    .option('--role <role>', 'getTrustedHostInfo: a role of that site')
    .option('--tls-ca <file>', 'https: PEM file of the CAs of the server (default: those of Node)')
    .option('--tls-cert <file>', 'https: PEM file of a client certificate, where a proxy in front wants one')
    .option('--tls-key <file>', 'https: PEM file of its key (default: in the same file)')
    .addHelpText('after', HINT)
    .addHelpText('after', example('authority call http://localhost:8080 getTrustedHostInfo --role academic'))
    .action(async (url: string, name: string, flags: CallFlags) => {
      const operation = OPERATIONS.find((one) => one.name === name)!;
      refuseForeign(operation, flags);
      const { callAuthority, certificatesIn, attributesIn, tlsOf } = await import('./call.ts');
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
Ends with 0 when the authority answers, with 1 and its words when it refuses, answers a fault or cannot be asked,
with 2 on wrong usage.`;

/** A flag of the other operation is a slip that would otherwise be sent as nothing. */
function refuseForeign(operation: Operation, { cert, attCert, role, out }: CallFlags): void {
  const isAuthorisation = operation === REQ_AUTHORISATION;
  if (isAuthorisation && cert === undefined) throw new OperationError('usage', 'reqAuthorisation wants --cert <file>');
  if (isAuthorisation && role !== undefined) throw new OperationError('usage', '--role belongs to getTrustedHostInfo');
  if (!isAuthorisation && [cert, attCert, out].some((file) => file !== undefined)) {
    throw new OperationError('usage', '--cert, --att-cert and --out belong to reqAuthorisation');
  }
}
