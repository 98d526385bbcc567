// The misfits of a snapshot: values that do not fit the documented types of their fields (A150). For reports of
// commands only.
import { storedDictionary, textAt } from '../column/dictionary.ts';
import { COLLECTIONS } from '../schema/catalogue.ts';
import { type ColumnLayout, filterName } from '../schema/layout.ts';
import type { Section } from './directory.ts';
import type { Sections } from './loaded.ts';
import { layoutIn, metadataOf } from './metadata.ts';
import { DICTIONARY, POSTINGS, sectionName, TABLE } from './sections.ts';

/**
 * The misfits of one field, which filters call `field`: how many there are, and the first of them in the order of ids,
 * long texts cut, with the file and line of the record if they are known.
 */
export interface FieldMisfits {
  readonly collection: string;
  readonly field: string;
  readonly type: ColumnLayout['type'];
  readonly values: number;
  readonly examples: readonly { readonly id: number; readonly text: string; readonly place?: string | undefined }[];
}

const EXAMPLES_MAX = 5;
const CHARACTERS_MAX = 60;
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The misfits of all fields that have some, in a snapshot of these sections. `read` returns those of a group, `placeOf`
 * the file and line of a record. Cost: a pass over the rows of these values.
 */
export function misfitsIn(
  sections: readonly Section[],
  read: Sections['views'],
  placeOf?: (collection: string, id: number) => string | undefined,
): readonly FieldMisfits[] {
  const names = new Set(sections.map(({ name }) => name));
  const metadata = metadataOf({ views: read });
  return COLLECTIONS.flatMap((collection) => {
    const { tables, columns } = layoutIn(metadata, collection);
    const affected = columns.filter(({ path }) => names.has(sectionName(DICTIONARY, 'fitting', path)));
    return affected.map(({ path, table, type, ...column }) => {
      const dictionary = storedDictionary(type, read(DICTIONARY, path));
      const { codes, starts, postings } = read(POSTINGS, path);
      const rows = postings.slice(starts[dictionary.fitting], starts[dictionary.size]).sort();
      const { numbers: ids } = read(DICTIONARY, `${collection.name}/${collection.idField}`);
      const examples = Array.from(rows.subarray(0, EXAMPLES_MAX), (row) => {
        let record = row;
        for (let i = table; i > 0; i = tables[i]!.parent) record = read(TABLE, tables[i]!.path).parents[record]!;
        const text = DECODER.decode(textAt(dictionary, codes[row]!).slice());
        const cut = text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX)}...` : text;
        return { id: ids![record]!, text: cut, place: placeOf?.(collection.name, ids![record]!) };
      });
      const field = filterName({ path, ...column });
      return { collection: collection.name, field, type, values: rows.length, examples };
    });
  });
}

/** One line about the misfits of a field. */
export function misfitText({ collection, field, type, values, examples }: FieldMisfits): string {
  const places = examples.map(({ id, text, place }) => {
    return `${JSON.stringify(text)} in record ${id}${place === undefined ? '' : ` (${place})`}`;
  });
  const more = values > examples.length ? ', ...' : '';
  const count = values === 1 ? '1 value does' : `${values} values do`;
  return `${collection}.${field}: ${count} not fit the type ${type}: ${places.join(', ')}${more}`;
}
