// What the commands have in common: where they print, how their help ends, options with a checked value, and the
// settings as flags, with what help says of their other sources. Defines no command, and judges no setting.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { readSettings, SETTINGS, type Settings } from '../settings/declarations.ts';
import { environmentName, flagName, type Flags, type Setting } from '../settings/sources.ts';
import { BASE_URL, integerBetween, SWITCH, type ValueKind } from '../settings/values.ts';
import type { Output } from './terminal.ts';

/** Where a command prints: what was asked for to `stdout`, progress and errors to `stderr`. */
export interface Outputs {
  readonly stdout: Output;
  readonly stderr: Output;
}

export const NAME = 'catalogue-replica';

export const THREADS: ValueKind<number> = integerBetween(1, 1024);

/** How much `prune` leaves, as it is asked and as `follow` is. */
export const KEEP = [
  '--keep',
  'generations to keep in the target, the current one included',
  integerBetween(1, 32),
] as const;

/** For whom `import` compresses records, and `follow` those of each generation. */
export const COMPRESSED_FOR = [
  '--base-url',
  'compress the records for this base URL too, so that serve need not',
  BASE_URL,
] as const;

/** The end of a command's help: its words behind the name of the program. */
export function example(text: string): string {
  return `\nExample:\n  ${NAME} ${text}`;
}

/** An option with a value of a kind; a wrong value is a usage error that says what is wanted. */
export function valueOption<V>(flag: string, help: string, kind: ValueKind<V>): Option {
  return new Option(`${flag} ${kind.placeholder}`, help).argParser((text) => {
    const value = kind.parse(text);
    if (value === undefined) throw new InvalidArgumentError(`Want ${kind.wanted}.`);
    return value;
  });
}

/** What help says of the other sources of flags that are settings: of all, or of these names. */
function settingsHint(names?: readonly string[]): string {
  const settings = SETTINGS.filter(({ name }) => (names ?? ['filterErrors']).includes(name));
  const flags = names ? settings.map(flagName).join(', ') : 'every flag that serve has';
  const [first] = settings;
  const text =
    `Environment variables (${environmentName(first!)} for ${flagName(first!)}) and keys of the TOML file named by ` +
    `--config (${first!.name}) set these too: ${flags}. A flag wins over the environment, that over the file.`;
  return `\n${text.replace(/(.{1,110})(?: |$)/g, '$1\n').trimEnd()}`;
}

/** Adds all settings, or those of these names and `config`, as flags. Returns the command. */
export function addSettings(command: Command, names?: readonly string[]): Command {
  for (const setting of SETTINGS.filter(({ name }) => !names || name === 'config' || names.includes(name)))
    for (const option of settingOptions(setting)) command.addOption(option);
  return command.addHelpText('after', settingsHint(names?.filter((name) => name !== 'config')));
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

export function settingsOf(flags: Flags, names: readonly string[]): Settings {
  return readSettings(Object.fromEntries(names.map((name) => [name, flags[name]])));
}
