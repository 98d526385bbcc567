// `authority verify-cert`: its flags and help.
// The work is in verifyCert.ts, loaded when the command runs.
import { type Command, Option } from 'commander';
import { epochMs } from '../../observe/clock.ts';
import { example, type Outputs, valueOption } from '../parts.ts';
import { INSTANT, integerBetween } from '../../settings/values.ts';
import type { VerifyRequest } from './verifyCert.ts';

type VerifyFlags = Omit<VerifyRequest, 'chain' | 'at'> & { readonly time?: number };

/** Far more than any chain in use; a path of a hundred CAs is an experiment. */
const DEPTH_MAX = 255;
const DEPTH_INITIAL = 16;

/** Adds the command that judges a certificate. */
export function addVerifyCert(group: Command, { stdout }: Outputs): void {
  group
    .command('verify-cert')
    .description('Judge a certificate by the CAs that are trusted: RFC 5280, and proxies by RFC 3820.')
    .argument(
      '<chain>',
      'PEM file: the certificate first, then intermediates in any order, unneeded ones too; private keys in it are passed over',
    )
    .addOption(
      new Option('--trust <file>', 'PEM file of the CAs that are trusted (repeatable)')
        .argParser((path: string, earlier: readonly string[] | undefined) => [...(earlier ?? []), path])
        .makeOptionMandatory(),
    )
    .addOption(valueOption('--time', 'time to judge at (default: now)', INSTANT))
    .addOption(
      valueOption('--max-depth', 'most intermediate CAs of a path', integerBetween(0, DEPTH_MAX)).default(
        DEPTH_INITIAL,
      ),
    )
    .option(
      '--crls <path>',
      'PEM file of CRLs, or directory of such files; every CA then needs a current one (default: revocation is not checked)',
    )
    .option('--allow-proxies', 'accept proxies with all rights of their owner')
    .option('--allow-limited-proxies', 'accept limited proxies')
    .option('--allow-legacy-proxies', 'accept legacy proxies; a limited one needs both flags')
    .option('--timing', 'print the CPU time of the validation alone')
    .addHelpText('after', HINT)
    .addHelpText('after', example('authority verify-cert --trust cas.pem --allow-proxies chain.pem'))
    .action(async (chain: string, { time, ...flags }: VerifyFlags) => {
      const { verifyCert } = await import('./verifyCert.ts');
      const at = time ?? epochMs() / 1000;
      verifyCert({ chain, at, ...flags }, (line) => void stdout.write(`${line}\n`));
    });
}

const HINT = `
Ends with 0 when the certificate is accepted, with 1 and the reason when it is refused, with 2 on wrong usage.
With any of the --allow flags the certificate is judged as the service judges those of users. Without, the strict
profile applies: it also asks for what RFC 5280 demands of CAs when they issue, such as key identifiers.`;
