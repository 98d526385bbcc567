// The commands for whoever runs the attribute authority, as one group: `authority <command>`. Each file of the group adds its
// own commands; this one only gathers them. Called by commands.ts.
import type { Command } from 'commander';
import { addCallCommand } from './authorityCommandCall.ts';
import { addCertificateCommands } from './authorityCommandCertificates.ts';
import { addConfigurationCommands } from './authorityCommandConfiguration.ts';
import type { Outputs } from './commandParts.ts';

/** Adds the group. */
export function addAuthority(root: Command, outputs: Outputs): void {
  const group = root.command('authority').description('Look after the attribute authority and what it trusts.');
  addConfigurationCommands(group, outputs);
  addCertificateCommands(group, outputs);
  addCallCommand(group, outputs);
}
