// `authority check`, `authority inspect` and `authority issue`: their flags and help. The work is in
// tools.ts, loaded when a command runs.
import { type Command, Option } from 'commander';
import type { CertificateKind } from '../../authority/issuance.ts';
import { epochMs, epochSeconds } from '../../observe/clock.ts';
import { example, type Outputs, valueOption } from '../parts.ts';
import { integerBetween } from '../../settings/values.ts';
import type { IssueFlags } from './tools.ts';

const KINDS: readonly CertificateKind[] = [
  'ca',
  'user',
  'signer',
  'proxy',
  'limited-proxy',
  'legacy-proxy',
  'legacy-limited-proxy',
];
/** A hundred years: more is a slip of the finger. */
const HOURS = integerBetween(1, 876_600);
const PATH_LENGTH = integerBetween(0, 255);

/** Adds the commands for configurations and what they are made of. */
export function addConfigurationCommands(group: Command, outputs: Outputs): void {
  addCheck(group, outputs);
  addInspect(group, outputs);
  addIssue(group, outputs);
}

function addCheck(group: Command, { stdout }: Outputs): void {
  group
    .command('check')
    .description('Check a configuration and every file it names; says every mistake with its file and line.')
    .argument('<config>', 'TOML file of an attribute authority')
    .addHelpText('after', example('authority check authority.toml'))
    .action(async (config: string) => {
      const { checkText } = await import('./tools.ts');
      stdout.write(`${checkText(config, epochMs() / 1000)}\n`);
    });
}

function addInspect(group: Command, { stdout }: Outputs): void {
  group
    .command('inspect')
    .description('Print what is in an attribute certificate, or in the certificates and CRLs of a file.')
    .argument(
      '<file>',
      'file with an attribute certificate (XML), or with certificates and CRLs (PEM, or one in DER); private keys in it are passed over',
    )
    .addHelpText('after', example('authority inspect attribute-certificate.xml'))
    .action(async (file: string) => {
      const { inspectText } = await import('./tools.ts');
      stdout.write(`${inspectText(file)}\n`);
    });
}

function addIssue(group: Command, { stdout }: Outputs): void {
  group
    .command('issue')
    .description('Issue a certificate for testing, with a new key. For real ones, ask a real CA.')
    .addOption(new Option('--kind <kind>', 'what to issue').choices(KINDS).makeOptionMandatory())
    .option('--name <name>', 'subject, /TYPE=value/TYPE=value; that of a proxy follows from its issuer')
    .option('--issuer <file>', 'PEM file whose first certificate issues it (default: it issues itself; a CA only)')
    .option('--issuer-key <file>', 'PEM file of the private key of the issuer')
    .addOption(new Option('--key-type <type>', 'kind of the new key').choices(['rsa', 'ec']).default('rsa'))
    .addOption(valueOption('--hours', 'how long it is valid, unless its issuer expires before', HOURS).default(24))
    .addOption(
      valueOption('--path-length', 'how many may follow a CA or an RFC 3820 proxy (default: any number)', PATH_LENGTH),
    )
    .requiredOption('-o, --output <prefix>', 'writes <prefix>.pem and <prefix>.key')
    .addHelpText(
      'after',
      example('authority issue --kind user --name /O=Site/CN=Name --issuer ca.pem --issuer-key ca.key -o user'),
    )
    .action(async (flags: IssueFlags) => {
      const { issueFiles } = await import('./tools.ts');
      stdout.write(`${issueFiles(flags, epochSeconds())}\n`);
    });
}
