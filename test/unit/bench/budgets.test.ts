// Budgets: which figures they allow, their messages, and that a run fails if it could check nothing.
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { BUDGETS, budgetsOf, guardedOf, guardLines, mostOf, placeOfBudget, verdictOf } from '../../../bench/budgets.ts';
import { summaryOf } from '../../../bench/load/rounds.ts';
import { cpuMicroseconds, cpuSecondsOf } from '../../../bench/processes/cpuTime.ts';
import { SCENARIOS } from '../../../bench/scenarios/scenarios.ts';

const TEXT = JSON.stringify({
  tolerance: { hand: 0.15, ci: 0.3 },
  spreadMax: 0.4,
  ratios: {
    list: { most: 2, reason: 'two copies' },
    own: { most: 2, reason: 'noisy by nature', tolerance: { hand: 0.5, ci: 1 } },
    promised: { most: 2, promise: 2.5, reason: 'users were told so', tolerance: { hand: 0.1, ci: 1 } },
  },
  micro: { gather: { most: 2, reason: 'one copy and its bookkeeping' } },
  counters: { list: { most: { hops: 0 }, reason: 'cheap' } },
});
const budgets = budgetsOf(TEXT);

describe('a ratio', () => {
  test.each([
    [2.2, 'hand', 'held'],
    [2.4, 'hand', 'lost'],
    [2.4, 'ci', 'held'],
    [2.7, 'ci', 'lost'],
  ] as const)('of %d with a budget of 2 is, in the place "%s", %s', (ratio, place, outcome) => {
    expect(guardedOf({ name: 'list', ratio, spread: 0.1 }, place, budgets)).toBe(outcome);
  });

  test('is not judged when its control spreads by more than 40 %, however good it is', () => {
    expect(guardedOf({ name: 'list', ratio: 1, spread: 0.41 }, 'ci', budgets)).toBe('too noisy');
  });

  test.each([
    [2, 'held'],
    [3, 'too noisy'],
    [4, 'lost'],
  ] as const)('of %d with a budget of 2 is, where its own rounds spread by more than 40 %%, %s', (ratio, outcome) => {
    expect(guardedOf({ name: 'list', ratio, spread: 0.1, ownSpread: 0.41 }, 'ci', budgets)).toBe(outcome);
  });

  test('is not judged where the catalogue is of another size than its budget', () => {
    expect(guardedOf({ name: 'list', ratio: 9, spread: 0.1 }, undefined, budgets)).toBe('-');
  });

  test('without a budget is said to have none', () => {
    expect(guardedOf({ name: 'other', ratio: 1, spread: 0.1 }, 'ci', budgets)).toBe('unbudgeted');
  });

  test('has the tolerance of its own budget where that has one', () => {
    expect(mostOf(budgets.ratios['own']!, 'ci', budgets)).toBe(4);
  });

  test.each([
    ['hand', 2.2],
    ['ci', 2.5],
  ] as const)('is never more than was promised, whatever the tolerance: in the place "%s" %d', (place, most) => {
    expect(mostOf(budgets.ratios['promised']!, place, budgets)).toBeCloseTo(most);
  });
});

test('whoever reads of a budget is told its file, its entry and its reason, or to add it', () => {
  expect(placeOfBudget('counters', 'list', budgets)).toBe('counters.list of bench/budgets.json (cheap)');
  expect(placeOfBudget('ratios', 'new', budgets)).toMatch(
    /^ratios\.new of bench\/budgets\.json \(no such entry: add it/,
  );
});

describe('a run', () => {
  const held = { name: 'list', ratio: 2, spread: 0.1 };
  const lost = { ...held, ratio: 3 };
  const noisy = { ...held, spread: 0.5 };

  test('is good when all that could be judged is in budget, and says what could not be', () => {
    expect(guardLines([held, noisy], 'ci', budgets)).toEqual({
      isGood: true,
      lines: ['list: not judged, its control spreads by 50 %', '1 of 1 judged ratios are in budget'],
    });
  });

  test('says whether the control or what was measured was too noisy', () => {
    const { lines } = guardLines([held, { ...lost, ownSpread: 0.6 }], 'ci', budgets);
    expect(lines).toEqual(['list: not judged, it spreads by 60 %', '1 of 1 judged ratios are in budget']);
  });

  test('is not good when a budget is passed, and says which and why it is what it is', () => {
    const { lines, isGood } = guardLines([held, lost], 'ci', budgets);
    expect(isGood).toBe(false);
    expect(lines).toEqual([
      'list: LOST, 3.00 is more than 2.60, by ratios.list of bench/budgets.json (two copies)',
      '1 of 2 judged ratios are in budget',
    ]);
  });

  test('over a catalogue of another size loses nothing, and says why', () => {
    expect(guardLines([lost], undefined, budgets)).toEqual({
      isGood: true,
      lines: ['not judged: budgets are of 100,000 observations'],
    });
  });

  test.each([['nothing ran', []] as const, ['everything was too noisy', [noisy]] as const])(
    'is not good when %s',
    (_, measured) => {
      const { lines, isGood } = guardLines(measured, 'ci', budgets);
      expect([isGood, lines.at(-1)]).toEqual([false, 'nothing could be judged']);
    },
  );
});

describe('a budget file', () => {
  test.each([
    ['a ratio without a reason', { ratios: { list: { most: 2, reason: '' } } }],
    ['a ratio without a number', { ratios: { list: { reason: 'why' } } }],
    ['a counter that is no whole number', { counters: { list: { most: { hops: 0.5 }, reason: 'why' } } }],
    ['a promise that is broken', { ratios: { list: { most: 2, promise: 1.9, reason: 'why' } } }],
    ['a tolerance in CI below that by hand', { tolerance: { hand: 0.3, ci: 0.15 } }],
  ])('with %s is refused', (_, wrong) => {
    const text = JSON.stringify({ ...(JSON.parse(TEXT) as object), ...wrong });
    expect(() => budgetsOf(text)).toThrow('bench/budgets.json: ');
  });

  test('gives 15 % by hand, 30 % in CI, and judges nothing beyond 40 % of spread', () => {
    expect([BUDGETS.tolerance, BUDGETS.spreadMax]).toEqual([{ hand: 0.15, ci: 0.3 }, 0.4]);
  });
});

describe('figures', () => {
  test('are the least of the rounds, with how far the middle one lies above it', () => {
    expect(summaryOf([12, 10, 50])).toEqual({ least: 10, spread: expect.closeTo(0.2) });
  });

  test('count a thread that began between two looks whole, and leave out one that ended', () => {
    const before = new Map([
      ['1', 5_000],
      ['2', 9_000],
    ]);
    const after = new Map([
      ['1', 6_000],
      ['3', 2_000],
    ]);
    expect(cpuMicroseconds(before, after)).toBe(3);
  });

  test.each([
    [1, 'great'],
    [1.2, 'pass'],
    [1.4, 'short'],
  ])('a ratio of %d against a pass of 1.3 and a great of 1.05 is judged %s', (ratio, verdict) => {
    expect(verdictOf({ ratio, spread: 0.1, pass: 1.3, great: 1.05 })).toBe(verdict);
  });

  test('are not judged when the control spreads by more than 40 %', () => {
    expect(verdictOf({ ratio: 1, spread: 0.41, pass: 1.3, great: 1.05 })).toBe('too noisy');
  });

  test('have no verdict where the design has no target', () => {
    expect(verdictOf({ ratio: 1, spread: 0.1 })).toBe('-');
  });
});

test('scenarios have names of their own, controls that exist, targets in order, and a budget each', () => {
  const names = SCENARIOS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, control, pass = Infinity, great = 0 } of SCENARIOS) {
    expect(great).toBeLessThan(pass);
    if (typeof control === 'object') expect(names).toContain(control.scenario);
    expect(BUDGETS.ratios, placeOfBudget('ratios', name)).toHaveProperty(name);
  }
});

test('the CPU of a process has that of threads that have ended', async () => {
  const before = cpuSecondsOf(process.pid, 'own');
  const code = 'const start = process.cpuUsage(); while (process.cpuUsage(start).user < 200_000);';
  const worker = new Worker(code, { eval: true });
  await new Promise((resolve) => worker.once('exit', resolve));
  expect(cpuSecondsOf(process.pid, 'own') - before).toBeGreaterThan(0.15);
});
