// `completion`: prints a bash script that completes commands, flags and their values.
import type { Command, Option } from 'commander';
import { NAME, type Outputs } from './parts.ts';

/** `allCommands` resolves to the command line with the options of every command. */
export function defineCompletion(command: Command, { stdout }: Outputs, allCommands: () => Promise<Command>): void {
  command
    .addHelpText('after', `\nExample:\n  source <(${NAME} completion)`)
    .action(async () => void stdout.write(bashScript(await allCommands())));
}

function bashScript(root: Command): string {
  const commands = commandsBelow(root, []);
  const subcommands = commands.filter(({ command }) => command.commands.length > 0);
  return `# bash completion of ${NAME}
_catalogue_replica() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} path= word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
${commands.map(({ path }) => `      ' ${path}') path=' ${path}' ;;`).join('\n')}
    esac
  done
  local flags= values= names=
  case "$path" in
    '') names='${namesIn(root)}' ;;
${subcommands.map(({ command, path }) => `    ' ${path}') names='${namesIn(command)}' ;;`).join('\n')}
  esac
  case "$path" in
${commands.map(({ command, path }) => `    ' ${path}') flags='${flagsOf(command)}' ;;`).join('\n')}
  esac
  case "$path $previous" in
${commands.flatMap(({ command, path }) => valueCases(command, path)).join('\n')}
  esac
  if [[ $values ]]; then COMPREPLY=($(compgen -W "$values" -- "$current"))
  elif [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$flags --help" -- "$current"))
  elif [[ $names ]]; then COMPREPLY=($(compgen -W "$names" -- "$current"))
  else COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _catalogue_replica ${NAME}
`;
}

interface PlacedCommand {
  readonly command: Command;
  /** Names from the program to the command, such as `authority check`. */
  readonly path: string;
}

function commandsBelow(parent: Command, names: readonly string[]): readonly PlacedCommand[] {
  return parent.commands.flatMap((command) => {
    const path = [...names, command.name()];
    return [{ command, path: path.join(' ') }, ...commandsBelow(command, path)];
  });
}

function namesIn(command: Command): string {
  return command.commands.map((one) => one.name()).join(' ');
}

function flagsOf(command: Command): string {
  return command.options.flatMap(({ long }) => long ?? []).join(' ');
}

/** The lines that complete the values of flags with a closed list of values, such as `--links spec`. */
function valueCases(command: Command, path: string): readonly string[] {
  return command.options.flatMap((option) => {
    const values = choicesOf(option);
    return option.long && values.length > 1 ? [`    ' ${path} ${option.long}') values='${values.join(' ')}' ;;`] : [];
  });
}

function choicesOf({ argChoices, flags }: Option): readonly string[] {
  return argChoices ?? /<([\w|.-]+)>/.exec(flags)?.[1]?.split('|') ?? [];
}
