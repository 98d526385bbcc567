// `authority verify-attributes`: its flags and help.
// The work is in verifyAttributes.ts, loaded when the command runs.
import type { Command } from 'commander';
import { epochMs } from '../../observe/clock.ts';
import { example, type Outputs, valueOption } from '../parts.ts';
import { INSTANT } from '../../settings/values.ts';
import type { AttributesRequest } from './verifyAttributes.ts';

type AttributesFlags = Omit<AttributesRequest, 'file' | 'at'> & { readonly time?: number };

/** Adds the command that judges an attribute certificate as a service does. */
export function addVerifyAttributes(group: Command, { stdout }: Outputs): void {
  group
    .command('verify-attributes')
    .description('Judge an attribute certificate as a service does that lets its holder in: signer, time and holder.')
    .argument('<file>', 'file with an attribute certificate (XML)')
    .requiredOption('--signer <file>', 'PEM file of the certificate of the authority that has to have signed it')
    .option('--holder <name>', 'subject of the user, /TYPE=value/TYPE=value, whose it has to be (default: anybody)')
    .option('--allow-sha1', 'take signatures with SHA-1, as services do whose externalSignatures has rsa-sha1')
    .addOption(valueOption('--time', 'time to judge at (default: now)', INSTANT))
    .addHelpText(
      'after',
      '\nEnds with 0 when it counts, with 1 and the reason when it is refused, with 2 on wrong usage.',
    )
    .addHelpText(
      'after',
      example('authority verify-attributes --signer authority.pem --holder /O=Site/CN=Name attributes.xml'),
    )
    .action(async (file: string, { time, ...flags }: AttributesFlags) => {
      const { verifyAttributes } = await import('./verifyAttributes.ts');
      verifyAttributes({ file, at: time ?? epochMs() / 1000, ...flags }, (line) => void stdout.write(`${line}\n`));
    });
}
