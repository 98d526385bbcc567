// The members of lists and objects of JSON: those that JSON.parse finds, whatever stands in their texts, and an end
// whatever is no JSON.
import { expect, test } from 'vitest';
import { jsonMembers, jsonString } from '../../../../server/browse/jsonMembers.ts';

const TEXTS = ['', 'plain', '"', '\\', '\\"', '\\\\', '],[', '},{', 'a:b', ',', '\n\u2028☃'];

test.each([
  [],
  {},
  [[]],
  [{}],
  [1, -2.5, true, false, null, 'x'],
  TEXTS,
  [TEXTS, TEXTS],
  Object.fromEntries(TEXTS.map((text) => [text, { [text]: text }])),
  { a: [[], {}, [[{ b: '[' }]]], '': 0, ['__proto__']: 1 },
])('%j has the members that JSON.parse finds', (value) => {
  const entries = Object.entries(value).map(([key, json]) => ({
    key: Array.isArray(value) ? '' : key,
    json: JSON.stringify(json),
  }));
  const json = JSON.stringify(value);
  expect(jsonMembers(json, Infinity)).toEqual({ members: entries, count: entries.length });
  expect(jsonMembers(json, 2)).toEqual({ members: entries.slice(0, 2), count: entries.length });
});

test('numbers stay as they are written', () => {
  const numbers = ['9007199254740993', '2.50', '1e400', '-0'];
  expect(jsonMembers(`[${numbers.join()}]`, 9).members.map(({ json }) => json)).toEqual(numbers);
  for (const json of [...numbers, 'null', 'true', '[]', '{}']) expect(jsonString(json)).toBeUndefined();
});

test.each(['[', '{', '["', '{"a', '{"a"', '{"a":', '[1,2', '[[[', '[]]]]', '[{]}', '["\\"]', '{1:2}', '{,,}', '[,"'])(
  'what is no JSON has an end: %s',
  (json) => {
    const { members } = jsonMembers(json, Infinity);
    for (const member of members) expect(member.json.length).toBeLessThan(json.length);
  },
);

test('what is no JSON is a text as it stands', () => {
  expect(['"a"b"', 'abc', '"\\x"', ''].map(jsonString)).toEqual(['"a"b"', 'abc', '"\\x"', '']);
});
