// How many rows of a set have each code of a field: from posting lists and bitmaps where that is less work than a look
// at each row. Pure counting.
import { wordsFor } from '../bits/bitmap.ts';
import type { FieldIndex } from '../index/field.ts';
import { countRows, countShared, eachRow, type RowSet } from '../index/rowset.ts';

/**
 * One count a code, null last. Cost: the codes for a whole table; else the rows of the set, or a bitmap a code where
 * that is less.
 */
export function countCodes(index: FieldIndex, set: RowSet): Uint32Array {
  const counts = new Uint32Array(index.dictionary.size + 1);
  const rows = countRows(set);
  if (rows === index.rows) {
    for (let code = 0; code < counts.length; code++) counts[code] = index.countOf({ start: code, end: code + 1 });
  } else if (set.kind === 'bitmap' && counts.length * wordsFor(index.rows) <= rows) {
    for (let code = 0; code < counts.length; code++) {
      counts[code] = countShared(set, index.rowsOf({ start: code, end: code + 1 }));
    }
  } else eachRow(set, (row) => counts[index.codeAt(row)]!++);
  return counts;
}
