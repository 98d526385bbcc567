// The commands for whoever runs the attribute authority, as one group: `authority <command>`. Each file of the group
// adds its own commands; this one only gathers them.
import type { Command } from 'commander';
import { addCallCommand } from './callCommand.ts';
import { addVerifyAttributes } from './verifyAttributesCommand.ts';
import { addVerifyCert } from './verifyCertCommand.ts';
import { addConfigurationCommands } from './toolCommands.ts';
import { example, type Outputs } from '../parts.ts';

/** Adds the group. */
export function addAuthority(root: Command, outputs: Outputs): void {
  const group = root.command('authority').description('Look after the attribute authority and what it trusts.');
  group.addHelpText('after', example('authority check authority.toml'));
  addConfigurationCommands(group, outputs);
  addVerifyCert(group, outputs);
  addVerifyAttributes(group, outputs);
  addCallCommand(group, outputs);
}
