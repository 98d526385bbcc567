// What the commands have in common: where they print, how their help ends, and options with a checked value. Defines no
// command.
import { InvalidArgumentError, Option } from 'commander';
import { integerBetween, type ValueKind } from '../settings/values.ts';
import type { Output } from './terminal.ts';

/** Where a command prints: what was asked for to `stdout`, progress and errors to `stderr`. */
export interface Outputs {
  readonly stdout: Output;
  readonly stderr: Output;
}

/** The name of the program. */
export const NAME = 'catalogue-replica';

/** Threads that a command may be given. */
export const THREADS: ValueKind<number> = integerBetween(1, 1024);

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
