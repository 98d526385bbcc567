// Decoding lines: the served bytes, the positions of own URLs, the content of columns, and every fault with its JSON
// pointer.
import { describe, expect, test } from 'vitest';
import type { Batch } from '../../../../data/import/batch.ts';
import { decodeLines, makeDecoder } from '../../../../data/import/decode.ts';
import { column, decode, membersIn, ownUrls, served } from '../../../support/batches.ts';

const OPEN = 'bboxes';

function faultOf(collection: string, line: string | Uint8Array): string {
  const { faults, recordEnds } = decode(collection, line);
  expect(recordEnds).toHaveLength(0);
  expect(faults).toHaveLength(1);
  return `${faults[0]!.pointer} ${faults[0]!.message}`;
}

describe('served bytes', () => {
  test.each([
    ['are as they came when compact', '{"ob_id":1,"a":[1,2,{"b":null}]}', '{"ob_id":1,"a":[1,2,{"b":null}]}'],
    ['have no white space', ' \t{ "ob_id" : 1 ,\t"a" : [ 1 , { } , [ ] ] } \r', '{"ob_id":1,"a":[1,{},[]]}'],
    ['keep white space in texts', '{"ob_id":1,"a":" b  c "}', '{"ob_id":1,"a":" b  c "}'],
    ['keep the order of keys', '{"z":1,"ob_id":1,"a":2}', '{"z":1,"ob_id":1,"a":2}'],
    ['keep numbers as written', '{"ob_id":1,"a":[1.50,-0,1E+2,12345678901234567890,0.1e-7]}', undefined],
    ['keep short escapes', String.raw`{"ob_id":1,"a":"\b\f\n\r\t\"\\"}`, undefined],
    [
      'write short escapes for long ones',
      String.raw`{"ob_id":1,"a":"\u0008\u000C\u000a\u0022\u005c"}`,
      String.raw`{"ob_id":1,"a":"\b\f\n\"\\"}`,
    ],
    [
      'write other control characters in lower case',
      String.raw`{"ob_id":1,"a":"\u001F\u0000"}`,
      String.raw`{"ob_id":1,"a":"\u001f\u0000"}`,
    ],
    [
      'write no escape that is not needed',
      String.raw`{"ob_id":1,"a":"\/\u0041\u00e9\u007f"}`,
      '{"ob_id":1,"a":"/Aé\u007f"}',
    ],
    ['join escaped surrogate pairs', String.raw`{"ob_id":1,"a":"\uD83D\ude00"}`, '{"ob_id":1,"a":"😀"}'],
    ['escape U+2028 and U+2029', '{"ob_id":1,"a":"x\u2028y\u2029"}', String.raw`{"ob_id":1,"a":"x\u2028y\u2029"}`],
    ['keep the neighbours of U+2028', '{"ob_id":1,"a":"\u2027\u202a\u20a8"}', undefined],
    ['escape keys as they do values', String.raw`{"ob_id":1,"\u0061\/\u2028":1}`, String.raw`{"ob_id":1,"a/\u2028":1}`],
    ['keep a byte order mark inside', '{"ob_id":1,"a":"\ufeffx","\ufeffb":1}', undefined],
  ])('is reported with line and pointer: %s', (_claim, line, expected) => {
    const batch = decode(OPEN, line);
    expect(batch.faults).toEqual([]);
    expect(served(batch)).toEqual([expected ?? line]);
  });

  test('of several lines follow each other, with line numbers that count blank lines', () => {
    const batch = decode(OPEN, '{"ob_id":3}', '', ' \t\r', '{"ob_id":1}');
    expect(served(batch)).toEqual(['{"ob_id":3}', '{"ob_id":1}']);
    expect([...batch.ids]).toEqual([3, 1]);
    expect([...batch.lines]).toEqual([1, 4]);
  });

  test.each(['\0\0\0', '\u0001', '\u000b', '\u001f '])('are not blank if they contain controls: %j', (line) => {
    expect(decode(OPEN, line).faults).toEqual([
      expect.objectContaining({
        line: 1,
        message: expect.stringContaining('ill-formed JSON: expected a value') as string,
      }),
    ]);
  });

  test('need no line end after the last line, and may have CRLF', () => {
    const bytes = Buffer.from('{"ob_id":1}\r\n{"ob_id":2}');
    const batch = decodeLines(makeDecoder(OPEN), { bytes, firstLine: 1, fileBytesRead: 0 });
    expect(served(batch)).toEqual(['{"ob_id":1}', '{"ob_id":2}']);
  });
});

describe('own URLs', () => {
  test('are noted at the start of any string value, nested and in extra keys too', () => {
    const line = '{"ob_id":1,"a":"{base_url}/1","b":[{"c":"{base_url}/2"},"{base_url}"]}';
    expect(ownUrls(decode(OPEN, line))).toEqual(['{base_url}/1', '{base_url}/2', '{base_url}']);
  });

  test('are not noted elsewhere in a text, nor in keys', () => {
    const line = String.raw`{"ob_id":1,"{base_url}":"x{base_url}","a":" {base_url}","b":"\"{base_url}","c":"{base_url"}`;
    expect(ownUrls(decode(OPEN, line))).toEqual([]);
  });

  test('are noted at their served positions, after changes by escapes and white space', () => {
    const line = String.raw`{ "ob_id" : 1, "a": "\u0041\u2028", "b": "{base_url}\/x\u0020y", "c": "{base_url}/z" }`;
    const batch = decode(OPEN, line);
    expect(served(batch)).toEqual([String.raw`{"ob_id":1,"a":"A\u2028","b":"{base_url}/x y","c":"{base_url}/z"}`]);
    expect(ownUrls(batch)).toEqual(['{base_url}/x y', '{base_url}/z']);
  });

  test('are noted however the placeholder is escaped', () => {
    const batch = decode(OPEN, String.raw`{"ob_id":1,"a":"\u007bbase\u005Furl}/x"}`);
    expect(ownUrls(batch)).toEqual(['{base_url}/x']);
  });

  test('are counted up to and with each record', () => {
    const batch = decode(
      OPEN,
      '{"ob_id":1,"a":"{base_url}"}',
      '{"ob_id":2}',
      '{"ob_id":3,"a":["{base_url}","{base_url}"]}',
    );
    expect([...batch.linkEnds]).toEqual([1, 1, 3]);
  });

  test('in link columns become the id, whatever is escaped', () => {
    const pair = (platform: string): string =>
      `{"ob_id":1,"platform":"${platform}","instrument":"{base_url}/api/v3/instruments/2/?format=api"}`;
    const plain = decode('ipps', pair('{base_url}/api/v3/platforms/9007199254740991/?format=api'));
    expect(column(plain, 'ipps', 'platform')).toEqual(['9007199254740991']);
    const escaped = decode('ipps', pair(String.raw`{base_url}\/api\/v3\/platforms\/3\u0030\/?format=api`));
    expect(column(escaped, 'ipps', 'platform')).toEqual(['30']);
    expect(column(escaped, 'ipps', 'instrument')).toEqual(['2']);
    expect(ownUrls(escaped)[0]).toBe('{base_url}/api/v3/platforms/30/?format=api');
  });
});

describe('columns', () => {
  test('contain null for missing values, and no rows for a missing relation', () => {
    const batch = decode('computations', '{"ob_id":1,"title":"a","inputDescription":null}');
    expect(column(batch, 'computations', 'title')).toEqual(['a']);
    expect(column(batch, 'computations', 'abstract')).toEqual([null]);
    expect(column(batch, 'computations', 'inputDescription')).toEqual([null]);
    expect(column(batch, 'computations', 'identifier_set')).toEqual([]);
  });

  test('cost nothing for lines without values, however many keys another line has', () => {
    const keys = Array.from({ length: 1500 }, (_, i) => `"k${i}":[{"a":${i}}]`).join();
    const others = Array.from({ length: 500 }, (_, i) => `{"ob_id":${i + 2}}`);
    const { columns, tables } = decode('notes', `{"ob_id":1,${keys}}`, ...others);
    expect(columns.length).toBeGreaterThan(900);
    const numbers = [...columns.map((one) => one.numbers), ...tables.map(({ rowEnds }) => rowEnds)];
    expect(numbers.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(501 + 2 * 1500);
  });

  test('skip keys whose path is longer than in any catalogue', () => {
    const nested = (depth: number): string => (depth === 0 ? '1' : `{"${'k'.repeat(1000)}":${nested(depth - 1)}}`);
    const { keys } = decode('notes', `{"ob_id":1,"a":${nested(6)}}`);
    expect(keys.map(([path]) => path.length)).toEqual([7, 1008, 2009, 3010, 4011]);
  });

  test('accept declared keys in any order and any spelling', () => {
    const batch = decode('computations', String.raw`{"t\u0069tle":"b","ob_id":5,"uuid":"u\n"}`);
    expect(column(batch, 'computations', 'title')).toEqual(['b']);
    expect(column(batch, 'computations', 'uuid')).toEqual(['u\n']);
    expect([...batch.ids]).toEqual([5]);
  });

  test('do not mistake a key with a byte order mark for the declared one', () => {
    const batch = decode('computations', '{"ob_id":1,"\ufefftitle":5}');
    expect(batch.faults).toEqual([]);
    expect(column(batch, 'computations', 'title')).toEqual([null]);
  });
});

describe('a fault of a record', () => {
  const related = (members: string): string => `{"ob_id":1,"relatedTo":{${members}}}`;
  test.each([
    ['a text for a number', 'ipps', '{"ob_id":"1"}', '/ob_id expected a number, got text'],
    ['a number for a text', 'computations', '{"ob_id":1,"title":5}', '/title expected text, got a number'],
    [
      'a text for a boolean',
      'observations',
      '{"ob_id":1,"nonGeographicFlag":"no"}',
      '/nonGeographicFlag expected a boolean, got text',
    ],
    ['a boolean for a text', 'computations', '{"ob_id":1,"title":true}', '/title expected text, got a boolean'],
    ['a fraction for an integer', 'identifiers', related('"ob_id":1.5'), '/relatedTo/ob_id expected an integer'],
    ['an exponent for an integer', 'identifiers', related('"ob_id":1e3'), '/relatedTo/ob_id expected an integer'],
    [
      'an array for an object',
      'identifiers',
      '{"ob_id":1,"relatedTo":[]}',
      '/relatedTo expected an object, got an array',
    ],
    ['an object for an array', 'phenomona', '{"ob_id":1,"names":{}}', '/names expected an array, got an object'],
    ['null for an object', 'identifiers', '{"ob_id":1,"relatedTo":null}', '/relatedTo expected an object, got null'],
    ['null for an array', 'phenomona', '{"ob_id":1,"names":null}', '/names expected an array, got null'],
    [
      'null in an array',
      'phenomona',
      '{"ob_id":1,"names":[{"name":"a"},null]}',
      '/names/1 expected an object, got null',
    ],
    [
      'a number in an array of objects',
      'phenomona',
      '{"ob_id":1,"terms":[1]}',
      '/terms/0 expected an object, got a number',
    ],
    [
      'an object for an opaque array',
      'acquisitions',
      '{"ob_id":1,"independentInstrument":{}}',
      '/independentInstrument expected an array, got an object',
    ],
    [
      'a wrong type deep inside',
      'composites',
      '{"ob_id":1,"acquisitionComponent":[{},{"instrumentplatformpair_set":[{"relatedTo":{"uuid":1}}]}]}',
      '/acquisitionComponent/1/instrumentplatformpair_set/0/relatedTo/uuid expected text, got a number',
    ],
    [
      'null for a value that must not be null',
      'computations',
      '{"ob_id":1,"title":null}',
      '/title expected text, got null',
    ],
    [
      'null for a link',
      'ipps',
      '{"ob_id":1,"platform":null}',
      '/platform expected a link {base_url}/api/v3/platforms/<id>/?format=api, got null',
    ],
    [
      'a number for a link',
      'ipps',
      '{"ob_id":1,"platform":30}',
      '/platform expected a link {base_url}/api/v3/platforms/<id>/?format=api, got a number',
    ],
    ['no id', OPEN, '{"a":1}', '/ob_id the id is missing'],
    ['an id by another name', 'migrationproperties', '{"ob_id":1}', '/id the id is missing'],
    ['a null id', OPEN, '{"ob_id":null}', '/ob_id expected a number, got null'],
    ['a negative id', OPEN, '{"ob_id":-1}', '/ob_id expected an id of 0 to 2^53 - 1'],
    ['a negative zero as id', OPEN, '{"ob_id":-0}', '/ob_id expected an id of 0 to 2^53 - 1'],
    ['an id of 2^53', OPEN, '{"ob_id":9007199254740992}', '/ob_id expected an id of 0 to 2^53 - 1'],
    ['an id with a fraction', OPEN, '{"ob_id":1.0}', '/ob_id expected an integer'],
    [
      'a declared key twice',
      'computations',
      '{"ob_id":1,"title":"a","title":"b"}',
      '/title the key stands twice in its object',
    ],
    ['the id twice', OPEN, '{"ob_id":1,"ob_id":1}', '/ob_id the key stands twice in its object'],
    [
      'an extra key twice',
      OPEN,
      String.raw`{"ob_id":1,"a/b":1,"\u0061/b":2}`,
      '/a~1b the key stands twice in its object',
    ],
    ['a nested key twice', OPEN, '{"ob_id":1,"a":[0,{"~":1,"~":2}]}', '/a/1/~0 the key stands twice in its object'],
    ['a long key', OPEN, `{"ob_id":1,"${'k'.repeat(1025)}":1}`, ' a key has more than 1024 bytes'],
    ['a long key further down', OPEN, `{"ob_id":1,"a":{"${'é'.repeat(513)}":1}}`, '/a a key has more than 1024 bytes'],
    ['a lone surrogate', OPEN, String.raw`{"ob_id":1,"a":["\ud800"]}`, '/a/0 a text holds half of a surrogate pair'],
    ['a lone surrogate in a key', OPEN, String.raw`{"ob_id":1,"\udc00":1}`, ' a text holds half of a surrogate pair'],
    [
      'surrogates in the wrong order',
      OPEN,
      String.raw`{"ob_id":1,"a":"\ude00\ud83d"}`,
      '/a a text holds half of a surrogate pair',
    ],
    ['no object', OPEN, '[1]', ' expected a record (an object), got an array'],
    ['only a text', OPEN, '"a"', ' expected a record (an object), got text'],
  ])('%s', (_what, collection, line, expected) => {
    expect(faultOf(collection, line)).toBe(expected);
  });

  const WANTED = 'expected a link {base_url}/api/v3/platforms/<id>/?format=api';
  test.each([
    ['another collection', '{base_url}/api/v3/instruments/30/?format=api'],
    ['another version', '{base_url}/api/v2/platforms/30/?format=api'],
    ['no id', '{base_url}/api/v3/platforms//?format=api'],
    ['letters for an id', '{base_url}/api/v3/platforms/3a/?format=api'],
    ['a negative id', '{base_url}/api/v3/platforms/-3/?format=api'],
    ['an id beyond 2^53 - 1', '{base_url}/api/v3/platforms/9007199254740992/?format=api'],
    ['no format', '{base_url}/api/v3/platforms/30/'],
    ['a longer path', '{base_url}/api/v3/platforms/30/?format=api&x'],
    ['the placeholder alone', '{base_url}'],
  ])('is reported for a link with %s', (_what, link) => {
    expect(faultOf('ipps', `{"ob_id":1,"platform":"${link}"}`)).toBe(`/platform ${WANTED}, got "${link}"`);
  });

  test.each([
    ['another host', 'http://example.org/api/v3/platforms/30/?format=api'],
    ['another placeholder', '{baseurl}/api/v3/platforms/30/?format=api'],
    ['nothing', ''],
  ])('is reported for a link with %s, and that {base_url} is no example', (_what, link) => {
    const cure = '{base_url} is to stand as it is';
    expect(faultOf('ipps', `{"ob_id":1,"platform":"${link}"}`)).toBe(`/platform ${WANTED}, got "${link}"; ${cure}`);
  });

  test.each([
    ['of any length, cut', `{base_url}/${'1'.repeat(400)}`, `"{base_url}/${'1'.repeat(69)}…"`],
    ['with an escape inside', String.raw`{base_url}\/api\u0041\n`, String.raw`"{base_url}/apiA\n"`],
  ])('is reported for a text instead of a link, %s', (_what, link, found) => {
    expect(faultOf('ipps', `{"ob_id":1,"platform":"${link}"}`)).toBe(`/platform ${WANTED}, got ${found}`);
  });

  test.each([
    ['{', ' ill-formed JSON: expected a key, found the end of the line'],
    ['{"ob_id":1', ' ill-formed JSON: expected ",", found the end of the line'],
    ['{"ob_id":1,}', ' ill-formed JSON: expected a key, found "}"'],
    ['{,"ob_id":1}', ' ill-formed JSON: expected a key, found ","'],
    ['{"ob_id" 1}', ' ill-formed JSON: expected ":", found "1"'],
    ['{"ob_id":}', '/ob_id ill-formed JSON: expected a value, found "}"'],
    ['{ob_id:1}', ' ill-formed JSON: expected a key, found "o"'],
    ["{'ob_id':1}", ` ill-formed JSON: expected a key, found "'"`],
    ['{"ob_id":01}', ' ill-formed JSON: expected ",", found "1"'],
    ['{"ob_id":+1}', '/ob_id ill-formed JSON: expected a value, found "+"'],
    ['{"ob_id":1,"a":-}', '/a ill-formed JSON: expected a digit, found "}"'],
    ['{"ob_id":1,"a":1.}', '/a ill-formed JSON: expected a digit, found "}"'],
    ['{"ob_id":1,"a":.5}', '/a ill-formed JSON: expected a value, found "."'],
    ['{"ob_id":1,"a":1e}', '/a ill-formed JSON: expected a digit, found "}"'],
    ['{"ob_id":1,"a":NaN}', '/a ill-formed JSON: expected a value, found "N"'],
    ['{"ob_id":1,"a":nul}', '/a ill-formed JSON: expected null, found "}"'],
    ['{"ob_id":1,"a":truth}', '/a ill-formed JSON: expected true, found "t"'],
    ['{"ob_id":1,"a":[1,]}', '/a/1 ill-formed JSON: expected a value, found "]"'],
    ['{"ob_id":1,"a":[1 2]}', '/a ill-formed JSON: expected ",", found "2"'],
    ['{"ob_id":1,"a":[1}', '/a ill-formed JSON: expected ",", found "}"'],
    ['{"ob_id":1,"a":"b}', '/a ill-formed JSON: expected a closing quote, found the end of the line'],
    ['{"ob_id":1,"a":"b\\"}', '/a ill-formed JSON: expected a closing quote, found the end of the line'],
    [String.raw`{"ob_id":1,"a":"\x41"}`, '/a ill-formed JSON: an escape in a text is wrong'],
    [String.raw`{"ob_id":1,"a":"\u12g4"}`, '/a ill-formed JSON: an escape in a text is wrong'],
    ['{"ob_id":1,"a":"b\tc"}', '/a ill-formed JSON: expected control characters in text as \\u00xx, found U+0009'],
    ['{"ob_id":1}{"ob_id":2}', ' ill-formed JSON: expected the end of the record, found "{"'],
    ['{"ob_id":1},', ' ill-formed JSON: expected the end of the record, found ","'],
    ['{"ob_id":1} // note', ' ill-formed JSON: expected the end of the record, found "/"'],
    ['\u00a0{"ob_id":1}', ' ill-formed JSON: expected a value, found U+00A0'],
    ['\ufeff{"ob_id":1}', ' ill-formed JSON: expected a value, found U+FEFF'],
    ['{"ob_id":1,é:1}', ' ill-formed JSON: expected a key, found "é"'],
  ])('is reported for ill-formed JSON %j', (line, expected) => {
    expect(faultOf(OPEN, line)).toBe(expected);
    expect(() => JSON.parse(line)).toThrow(SyntaxError);
  });

  test.each([
    ['a stray byte', [0xff]],
    ['a text cut in a character', [0xc3]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
  ])('is reported for a line with %s, which is no UTF-8, and its neighbours are decoded', (_what, bad) => {
    const line = Buffer.concat([Buffer.from('{"ob_id":2,"a":"'), Uint8Array.from(bad), Buffer.from('"}')]);
    const batch = decode(OPEN, '{"ob_id":1}', line, '{"ob_id":3}');
    expect(batch.faults).toEqual([{ line: 2, pointer: '', message: 'the line is no valid UTF-8' }]);
    expect([...batch.ids]).toEqual([1, 3]);
    expect([...batch.lines]).toEqual([1, 3]);
  });

  test('is reported if the nesting is too deep', () => {
    const nested = (depth: number): string => `{"ob_id":1,"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    expect(decode(OPEN, nested(64)).faults).toEqual([]);
    expect(decode(OPEN, nested(65)).faults[0]!.message).toBe('nested deeper than 64');
    expect(decode(OPEN, nested(100_000)).faults[0]!.message).toBe('nested deeper than 64');
  });
});

test('finds members by their positions, and one record shape for records with the same keys', () => {
  const batch = decode(
    OPEN,
    '{"ob_id":1, "a" :[1, {"b":"}"}]}',
    '{"ob_id":',
    '{"a":"\\n","ob_id":2}',
    '{"ob_id":3,"a":null}',
  );
  expect(membersIn(batch).map((members) => members.map(({ text }) => text))).toEqual([
    ['"ob_id":1', '"a":[1,{"b":"}"}]'],
    ['"a":"\\n"', '"ob_id":2'],
    ['"ob_id":3', '"a":null'],
  ]);
  expect([...batch.outlineOf]).toEqual([0, 1, 0]);
  expect(batch.outlines).toEqual([
    ['ob_id', 'a'],
    ['a', 'ob_id'],
  ]);
});

test('starts from scratch after each batch', () => {
  const decoder = makeDecoder(OPEN);
  const run = (text: string): Batch =>
    decodeLines(decoder, { bytes: Buffer.from(text), firstLine: 1, fileBytesRead: 0 });
  const first = run('{"ob_id":1,"a":"{base_url}"}\n{"ob_id"\n');
  const second = run('{"ob_id":2}\n');
  expect(served(second)).toEqual(['{"ob_id":2}']);
  expect([second.links.length, second.faults.length, first.links.length, first.faults.length]).toEqual([0, 0, 1, 1]);
});
