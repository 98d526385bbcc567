// Splits a text at the words of a search, so that a page can mark them.
import { foldMarks } from '../bits/fold.ts';
import { splitWords } from './search.ts';

/**
 * Returns a function that splits a text into parts: every second part matches one of the words of `search`, with case
 * and accents folded as the search does. The parts together are the text. Cost: the text, once for each word.
 */
export function markedParts(search: string): (text: string) => readonly string[] {
  const spellings = splitWords(search).flat();
  if (spellings.length === 0) return (text) => [text];
  spellings.sort((a, b) => b.length - a.length);
  const pattern = new RegExp(spellings.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|'), 'gu');
  return (text) => {
    const { folded, starts } = foldedWithStarts(text);
    const parts: string[] = [];
    let end = 0;
    for (const { index, 0: match } of folded.matchAll(pattern)) {
      const [from, to] = [starts[index]!, starts[index + match.length]!];
      parts.push(text.slice(end, from), text.slice(from, to));
      end = to;
    }
    return [...parts, text.slice(end)];
  };
}

/** A folded text, and where in the text the character of each of its code units starts, and its end. */
function foldedWithStarts(text: string): { readonly folded: string; readonly starts: readonly number[] } {
  const starts: number[] = [];
  let folded = '';
  let at = 0;
  for (const character of text) {
    const codePoint = foldMarks(character.codePointAt(0)!);
    if (codePoint >= 0) folded += String.fromCodePoint(codePoint);
    while (starts.length < folded.length) starts.push(at);
    at += character.length;
  }
  return { folded, starts: [...starts, at] };
}
