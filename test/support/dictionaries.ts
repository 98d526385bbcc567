// Dictionaries of given texts, made as an import makes them, and their texts read back.
import { type ColumnType, type Dictionary, textAt } from '../../engine/column/dictionary.ts';
import { Interner } from '../../engine/column/intern.ts';
import { sortDictionary } from '../../engine/column/sort.ts';

/** The dictionary of some texts, which may repeat; no text of it is an instant. */
export function dictionaryOf(texts: Iterable<string>, type: ColumnType = 'text'): Dictionary {
  const interner = new Interner();
  for (const text of texts) interner.intern(Buffer.from(text), 0, Buffer.byteLength(text));
  return sortDictionary(type, interner.texts, () => NaN).dictionary;
}

/** The texts in code order. */
export function textsOf(dictionary: Dictionary): readonly string[] {
  return Array.from({ length: dictionary.size }, (_, code) => Buffer.from(textAt(dictionary, code)).toString());
}
