// Mistakes in the files of an authority: collected until all are known, so that an operator mends them in one go. Plain
// data and its text; whoever reads a file adds to the list.

import { type Place, placeText } from '../../settings/toml.ts';

/** A mistake and where it is. */
export interface Mistake extends Place {
  readonly message: string;
}

/**
 * Takes mistakes as they are found. `all` has them file by file, as first met, and by line in each; about a whole file
 * first. Of many it has the first, and how many more there are.
 */
export interface Mistakes {
  add(place: Place, message: string): void;
  readonly all: readonly Mistake[];
}

/** A file that is none has one in each line: whoever mends these finds the others then. */
const TOLD_MAX = 1000;

/** An empty list. */
export function noMistakes(): Mistakes {
  const list: Mistake[] = [];
  let untold = 0;
  return {
    add(place, message) {
      if (list.length < TOLD_MAX) list.push({ ...place, message });
      else untold++;
    },
    get all() {
      const files = [...new Set(list.map(({ file }) => file))];
      const told = files.flatMap((name) =>
        list.filter(({ file }) => file === name).sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
      );
      return untold === 0 ? told : [...told, { file: files[0]!, message: `and ${untold} more mistakes` }];
    },
  };
}

/** `file:line:column: message`. */
export function mistakeText(mistake: Mistake): string {
  return `${placeText(mistake)}: ${mistake.message}`;
}
