// The outline of JSON has the members that JSON.parse finds, at any depth and in one pass.
import { expect, test } from 'vitest';
import { type JsonOutline, jsonOutline, jsonString } from '../../../../../server/pages/browse/jsonOutline.ts';

const TEXTS = ['', 'plain', '"', '\\', '\\"', '\\\\', '],[', '},{', 'a:b', ',', '\n\u2028☃'];

const whole = (json: string, levels = Infinity): JsonOutline =>
  jsonOutline(json, { listMax: Infinity, objectMax: Infinity, levels, budget: { left: Infinity } });

/** The expected outline of a value, by JSON.parse. */
function expected(value: unknown, key = ''): JsonOutline {
  const json = JSON.stringify(value);
  if (value === null || typeof value !== 'object') return { key, json, members: undefined, count: 0 };
  const members = Object.entries(value).map(([name, each]) => expected(each, Array.isArray(value) ? '' : name));
  return { key, json, members, count: members.length };
}

const VALUES = [
  [],
  {},
  [[]],
  [{}],
  [1, -2.5, true, false, null, 'x'],
  TEXTS,
  [TEXTS, TEXTS],
  Object.fromEntries(TEXTS.map((text) => [text, { [text]: text }])),
  { a: [[], {}, [[{ b: '[' }]]], '': 0, ['__proto__']: 1 },
];

test.each(VALUES)('finds in %j the members that JSON.parse finds', (value) => {
  const json = JSON.stringify(value);
  const all = expected(value);
  expect(whole(json)).toEqual(all);
  expect(whole(json, 0)).toEqual({ ...all, members: undefined, count: 0 });
  const flat = all.members!.map((member) => ({ ...member, members: undefined, count: 0 }));
  expect(whole(json, 1)).toEqual({ ...all, members: flat });
  const few = { listMax: 2, objectMax: 2, levels: 1, budget: { left: Infinity } };
  expect(jsonOutline(json, few)).toEqual({ ...all, members: flat.slice(0, 2) });
});

test('spends the budget of all members in the order of the text', () => {
  const budget = { left: 4 };
  const limits = { listMax: 3, objectMax: 3, levels: 3, budget };
  const { members, count } = jsonOutline('[[1,2],{"a":[],"b":3},[4]]', limits);
  expect(members?.map((each) => [each.json, each.members?.length, each.count])).toEqual([
    ['[1,2]', 2, 2],
    ['{"a":[],"b":3}', 0, 2],
  ]);
  expect({ count, left: budget.left }).toEqual({ count: 3, left: 0 });
});

test('reads a nested value as often as one at the top', () => {
  const numbers = Array.from({ length: 40_000 }, (_, i) => i).join();
  const deep = `${'['.repeat(6)}${numbers}${']'.repeat(6)}`;
  const limits = { listMax: 3, objectMax: 3, levels: 7 };
  const flat = `[${numbers}]`;
  const microsOf = (json: string): number => {
    const before = process.cpuUsage();
    jsonOutline(json, { ...limits, budget: { left: 100 } });
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const rounds = Array.from({ length: 15 }, () => [microsOf(deep), microsOf(flat)] as const);
  const [deepMicros, flatMicros] = [0, 1].map((i) => Math.min(...rounds.map((round) => round[i]!)));
  expect(deepMicros).toBeLessThan(3 * flatMicros!);
});

test('keeps numbers as they are written', () => {
  const numbers = ['9007199254740993', '2.50', '1e400', '-0'];
  expect(whole(`[${numbers.join()}]`).members?.map(({ json }) => json)).toEqual(numbers);
  for (const json of [...numbers, 'null', 'true', '[]', '{}']) expect(jsonString(json)).toBeUndefined();
});

test.each(['[', '{', '["', '{"a', '{"a"', '{"a":', '[1,2', '[[[', '[]]]]', '[{]}', '["\\"]', '{1:2}', '{,,}', '[,"'])(
  'ends for invalid JSON: %s',
  (json) => {
    const { members } = whole(json);
    for (const member of members ?? []) expect(member.json.length).toBeLessThan(json.length);
  },
);

test('shows invalid JSON as its text', () => {
  expect(['"a"b"', 'abc', '"\\x"', ''].map(jsonString)).toEqual(['"a"b"', 'abc', '"\\x"', '']);
});
