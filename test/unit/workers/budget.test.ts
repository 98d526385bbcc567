// The time of a task, by a clock that the test moves.
import { expect, test } from 'vitest';
import { budgetOf } from '../../../workers/budget.ts';

test('a budget is over once its time has passed, and an endless one never', () => {
  let now = 1000;
  const isOver = budgetOf(50, () => now);
  const isEverOver = budgetOf(Infinity, () => now);
  expect(isOver()).toBe(false);
  now = 1050;
  expect(isOver()).toBe(false);
  now = 1051;
  expect([isOver(), isEverOver()]).toEqual([true, false]);
});
