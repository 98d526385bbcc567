// Common parts of the commands: outputs, examples in help, options with a validated value, and the settings as flags
// with a help text about their other sources.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { readSettings, SETTINGS, type Settings } from '../settings/declarations.ts';
import { environmentName, flagName, type Flags, type Setting } from '../settings/sources.ts';
import { BASE_URL, integerBetween, SWITCH, type ValueKind } from '../settings/values.ts';
import type { Output } from './terminal.ts';

export interface Outputs {
  /** For results. */
  readonly stdout: Output;
  /** For progress and errors. */
  readonly stderr: Output;
}

export const NAME = 'catalogue-replica';

export const THREADS: ValueKind<number> = integerBetween(1, 1024);

/** The option of `prune` and `follow` for what remains in a target. */
export const KEEP = [
  '--keep',
  'generations to keep in the target, including the current one',
  integerBetween(1, 32),
] as const;

/** The option of `import` and `follow` that compresses the records. */
export const COMPRESSED_FOR = [
  '--base-url',
  'also compress the records for this base URL, so that serve need not',
  BASE_URL,
] as const;

/** The example at the end of a command's help; `text` follows the name of the program. */
export function example(text: string): string {
  return `\nExample:\n  ${NAME} ${text}`;
}

/** An option with a value of a kind. An invalid value is a usage error that describes valid ones. */
export function valueOption<V>(flag: string, help: string, kind: ValueKind<V>): Option {
  return new Option(`${flag} ${kind.placeholder}`, help).argParser((text) => {
    const value = kind.parse(text);
    if (value === undefined) throw new InvalidArgumentError(`Want ${kind.wanted}.`);
    return value;
  });
}

/** The help text about the other sources of settings: of all, or of these names. */
function settingsHint(names?: readonly string[]): string {
  const settings = SETTINGS.filter(({ name }) => (names ?? ['filterErrors']).includes(name));
  const flags = names ? settings.map(flagName).join(', ') : 'every flag that serve has';
  const [first] = settings;
  const text =
    `Environment variables (${environmentName(first!)} for ${flagName(first!)}) and keys of the TOML file named by ` +
    `--config (${first!.name}) set these too: ${flags}. A flag wins over the environment, that over the file.`;
  return `\n${text.replace(/(.{1,80})(?: |$)/g, '$1\n').trimEnd()}`;
}

/** Adds all settings, or those with these names and `config`, as flags. Returns the command. */
export function addSettings(command: Command, names?: readonly string[]): Command {
  for (const setting of SETTINGS.filter(({ name }) => !names || name === 'config' || names.includes(name)))
    for (const option of settingOptions(setting))
      command.addOption(names ? option : option.helpGroup(`${setting.group}:`));
  return command.addHelpText('after', settingsHint(names?.filter((name) => name !== 'config')));
}

// No default and no parser here: settings/declarations.ts validates all sources in the same way and reports the source
// of an invalid value.
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

export function settingsOf(flags: Flags, names: readonly string[]): Settings {
  return readSettings(Object.fromEntries(names.map((name) => [name, flags[name]])));
}
