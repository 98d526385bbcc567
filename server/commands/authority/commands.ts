import type { Command } from 'commander';
import { addCallCommand } from './call.ts';
import { addVerifyAttributes } from './verifyAttributes.ts';
import { addVerifyCert } from './verifyCert.ts';
import { addConfigurationCommands } from './tools.ts';
import { example, type Outputs } from '../parts.ts';

export function defineAuthority(group: Command, outputs: Outputs): void {
  group.addHelpText('after', example('authority check authority.toml'));
  addConfigurationCommands(group, outputs);
  addVerifyCert(group, outputs);
  addVerifyAttributes(group, outputs);
  addCallCommand(group, outputs);
}
