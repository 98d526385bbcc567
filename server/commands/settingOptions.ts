// The settings as flags of a command, with what its help says of their other sources. Judges no value: that is done for
// all sources alike.
import { type Command, Option } from 'commander';
import { SETTINGS } from '../settings/declarations.ts';
import { flagName, type Setting } from '../settings/sources.ts';
import { SWITCH } from '../settings/values.ts';

const SETTINGS_HINT = `
Every flag that serve has is also an environment variable (--filter-errors is CATALOGUE_FILTER_ERRORS) and a
key in the TOML file named by --config (filterErrors). A flag wins over the environment, that over the file.`;

/** Gives a command all settings, or those of these names, as flags; answers the command. */
export function addSettings(command: Command, names?: readonly string[]): Command {
  for (const setting of SETTINGS.filter(({ name }) => names?.includes(name) ?? true))
    for (const option of settingOptions(setting)) command.addOption(option);
  return command.addHelpText('after', SETTINGS_HINT);
}

// No default and no parser here: settings/declarations.ts judges all sources alike and says where a wrong value came
// from.
function settingOptions(setting: Setting<unknown>): readonly Option[] {
  const flag = flagName(setting);
  if (setting.kind === SWITCH) {
    const negative = flag.replace('--', '--no-');
    const initial = setting.initial === true ? `on; ${negative} switches it off` : 'off';
    const help = `${setting.help} (default: ${initial})`;
    return [new Option(flag, help), new Option(negative).hideHelp()];
  }
  const repeatable = setting.arity === 'many' ? 'repeatable, ' : '';
  const help = `${setting.help} (${repeatable}default: ${setting.initialText})`;
  const option = new Option(`${flag} ${setting.kind.placeholder}`, help);
  if (setting.arity === 'many')
    option.argParser((text, earlier: readonly string[] | undefined) => [...(earlier ?? []), text]);
  return [option];
}
