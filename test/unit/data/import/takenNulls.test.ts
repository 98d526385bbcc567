import { describe, expect, test } from 'vitest';
import { column, decode, decodeAs, type DecodedBatch } from '../../../support/batches.ts';

describe('an import that accepts nulls', () => {
  const taking = (collection: string, line: string): DecodedBatch => decodeAs(collection, { takesNulls: true }, line);

  test.each([
    ['a text', 'computations', 'title', '{"ob_id":1,"title":null}', '{"ob_id":1}'],
    ['a link', 'ipps', 'platform', '{"ob_id":1,"platform":null}', '{"ob_id":1}'],
    ['an embedded record', 'identifiers', 'relatedTo/uuid', '{"ob_id":1,"relatedTo":null}', '{"ob_id":1}'],
    ['an array of records', 'phenomona', 'names/name', '{"ob_id":1,"names":null}', '{"ob_id":1}'],
  ])('treats null for %s as if its key were missing', (_, collection, path, line, without) => {
    const batch = taking(collection, line);
    expect(batch.faults).toEqual([]);
    expect(column(batch, collection, path)).toEqual(column(decode(collection, without), collection, path));
    expect(new TextDecoder().decode(batch.bytes)).toBe(`${line},`);
  });

  test('accepts null for an array without a declared shape', () => {
    expect(taking('acquisitions', '{"ob_id":1,"independentInstrument":null}').faults).toEqual([]);
  });

  test.each([
    ['an id', 'computations', '{"ob_id":null}', '/ob_id expected a number, got null'],
    ['a row', 'phenomona', '{"ob_id":1,"names":[null]}', '/names/0 expected an object, got null'],
    ['a row that is a link', 'observations', '{"ob_id":1,"projects":[null]}', '/projects/0 expected a link '],
    [
      'a row that is a text',
      'observations',
      '{"ob_id":1,"result_field":{"oldDataPath":["a",null]}}',
      ' expected text, got null',
    ],
    ['nothing', 'computations', '{"ob_id":1,"title":nul}', '/title ill-formed JSON: '],
  ])('still refuses an invalid null: %s', (_, collection, line, told) => {
    const [fault] = taking(collection, line).faults;
    expect(`${fault?.pointer} ${fault?.message}`).toContain(told);
    expect(fault?.isNull).toBeUndefined();
  });

  test.each([
    ['an id', 'computations', '{"ob_id":null}'],
    ['a row', 'observations', '{"ob_id":1,"projects":[null]}'],
    ['a value that only begins like null', 'computations', '{"ob_id":1,"title":nan}'],
    ['an array that only begins like null', 'phenomona', '{"ob_id":1,"names":nan}'],
  ])('advises no flag for %s', (_, collection, line) => {
    expect(decode(collection, line).faults).toEqual([expect.not.objectContaining({ isNull: true })]);
  });
});
