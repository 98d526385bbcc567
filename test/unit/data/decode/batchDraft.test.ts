// What a faulty line leaves of the batch that it is part of: its fault, and nothing else. The batches compared are
// those of the same lines without it.
import { expect, test } from 'vitest';
import { decode, type DecodedBatch, plainly } from '../../../support/batches.ts';

/** All texts of all columns that have some, whether a row has them or not. */
function textsIn({ texts }: DecodedBatch): object {
  return Object.fromEntries(
    texts
      .filter((one) => one.texts.ends.length > 0)
      .map(({ path, texts: { bytes, ends } }) => {
        return [path, [Buffer.from(bytes).toString(), [...ends]]];
      }),
  );
}

test('a faulty line leaves nothing behind but its fault', () => {
  const good = (id: number): string =>
    `{"ob_id":${id},"relatedTo":{"ob_id":7},"instrumentplatformpair_set":[{"platform":"{base_url}/api/v3/platforms/1/?format=api","relatedTo":{"uuid":"\\u000a"}}]}`;
  const bad = [
    good(2).replace('"uuid":"\\u000a"', '"uuid":5'),
    good(2).slice(0, -1),
    good(2).replace('"ob_id":2,', ''),
    good(2).replace('}]}', '},{},{"platform":"x"}]}'),
    `${good(2)}x`,
  ];
  const good13 = decode('acquisitions', good(1), good(3));
  const clean = plainly(good13);
  for (const line of bad) {
    const batch = decode('acquisitions', good(1), line, good(3));
    expect(batch.faults).toHaveLength(1);
    expect([...batch.lines]).toEqual([1, 3]);
    expect(textsIn(batch)).toEqual(textsIn(good13));
    expect({ ...plainly(batch), faults: [], lines: Uint32Array.of(1, 2) }).toEqual(clean);
  }
});

test('a faulty line leaves nothing behind in arrays of arrays that are not declared, nor of keys that it has alone', () => {
  const good = (id: number): string =>
    `{"ob_id":${id},"a":[{"b":[{"c":1},{"c":"\\u000a"}]},{"b":[]},{},{"b":[{"d":[true]}]}],"e":[1,2],"z${id}":[{"q":[1]}]}`;
  const bad = [
    good(2).slice(0, -1),
    good(2).replace('"ob_id":2,', ''),
    good(2).replace('"d":[true]', '"d":[true,{"m":[{}]},'),
    good(2).replace('{"c":1}', '{"new":[{"c":[1]}],"c":1,"c":1}'),
    `{"ob_id":2,"a":[{"b":[{"c":{"mixed":1}}]}],"f":{"g":["h"]},"e":[],"e":[]}`,
  ];
  const clean = decode('notes', good(1), '{"ob_id":4}', '{"ob_id":5}', good(1), good(3));
  expect(clean.faults).toEqual([]);
  for (const line of bad) {
    const batch = decode('notes', good(1), '{"ob_id":4}', line, line, '{"ob_id":5}', good(1), good(3));
    expect(batch.faults.map((fault) => fault.line)).toEqual([3, 4]);
    expect([...batch.lines]).toEqual([1, 2, 5, 6, 7]);
    expect({ ...plainly(batch), faults: [], lines: clean.lines }).toEqual(plainly(clean));
    expect(textsIn(batch)).toEqual(textsIn(clean));
  }
});
