import { type ColumnType, type Dictionary, textAt } from '../../engine/column/dictionary.ts';
import { Interner } from '../../engine/column/intern.ts';
import { sortDictionary } from '../../engine/column/sort.ts';

/** A dictionary made as an import makes it. The texts may repeat; none of them counts as an instant. */
export function dictionaryOf(texts: Iterable<string>, type: ColumnType = 'text'): Dictionary {
  const interner = new Interner();
  for (const text of texts) interner.intern(Buffer.from(text), 0, Buffer.byteLength(text));
  return sortDictionary(type, interner.texts, () => NaN).dictionary;
}

export function textsOf(dictionary: Dictionary): readonly string[] {
  return Array.from({ length: dictionary.size }, (_, code) => Buffer.from(textAt(dictionary, code)).toString());
}
