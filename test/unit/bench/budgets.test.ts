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
  ] as const)('with the value %d and a budget of 2 is, in the place "%s", %s', (ratio, place, outcome) => {
    expect(guardedOf({ name: 'list', ratio, spread: 0.1 }, place, budgets)).toBe(outcome);
  });

  test('has no verdict if its control spreads by more than 40 %, however good it is', () => {
    expect(guardedOf({ name: 'list', ratio: 1, spread: 0.41 }, 'ci', budgets)).toBe('too noisy');
  });

  test.each([
    [2, 'held'],
    [3, 'too noisy'],
    [4, 'lost'],
  ] as const)(
    'with the value %d and a budget of 2 is, if its own rounds spread by more than 40 %%, %s',
    (ratio, outcome) => {
      expect(guardedOf({ name: 'list', ratio, spread: 0.1, ownSpread: 0.41 }, 'ci', budgets)).toBe(outcome);
    },
  );

  test('has no verdict if the catalogue has another size than its budget', () => {
    expect(guardedOf({ name: 'list', ratio: 9, spread: 0.1 }, undefined, budgets)).toBe('-');
  });

  test('without a budget is reported as such', () => {
    expect(guardedOf({ name: 'other', ratio: 1, spread: 0.1 }, 'ci', budgets)).toBe('unbudgeted');
  });

  test('uses the tolerance of its own budget if that has one', () => {
    expect(mostOf(budgets.ratios['own']!, 'ci', budgets)).toBe(4);
  });

  test.each([
    ['hand', 2.2],
    ['ci', 2.5],
  ] as const)('never exceeds the promised value, whatever the tolerance: in the place "%s" %d', (place, most) => {
    expect(mostOf(budgets.ratios['promised']!, place, budgets)).toBeCloseTo(most);
  });
});

test('is reported with the file, entry and reason of its budget, or with the advice to add one', () => {
  expect(placeOfBudget('counters', 'list', budgets)).toBe('counters.list of bench/budgets.json (cheap)');
  expect(placeOfBudget('ratios', 'new', budgets)).toMatch(
    /^ratios\.new of bench\/budgets\.json \(no such entry: add it/,
  );
});

describe('a run', () => {
  const held = { name: 'list', ratio: 2, spread: 0.1 };
  const lost = { ...held, ratio: 3 };
  const noisy = { ...held, spread: 0.5 };

  test('succeeds if all figures with a verdict are in budget, and reports those without', () => {
    expect(guardLines([held, noisy], 'ci', budgets)).toEqual({
      isGood: true,
      lines: ['list: not judged, its control spreads by 50 %', '1 of 1 judged ratios are in budget'],
    });
  });

  test('reports whether the control or the measurement was too noisy', () => {
    const { lines } = guardLines([held, { ...lost, ownSpread: 0.6 }], 'ci', budgets);
    expect(lines).toEqual(['list: not judged, it spreads by 60 %', '1 of 1 judged ratios are in budget']);
  });

  test('fails if a budget is exceeded, and reports which one and its reason', () => {
    const { lines, isGood } = guardLines([held, lost], 'ci', budgets);
    expect(isGood).toBe(false);
    expect(lines).toEqual([
      'list: LOST, 3.00 is more than 2.60, by ratios.list of bench/budgets.json (two copies)',
      '1 of 2 judged ratios are in budget',
    ]);
  });

  test('over a catalogue of another size loses nothing, and reports why', () => {
    expect(guardLines([lost], undefined, budgets)).toEqual({
      isGood: true,
      lines: ['not judged: budgets are of 100,000 observations'],
    });
  });

  test.each([['nothing ran', []] as const, ['everything was too noisy', [noisy]] as const])(
    'fails when %s',
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
  ])('is refused with %s', (_, wrong) => {
    const text = JSON.stringify({ ...(JSON.parse(TEXT) as object), ...wrong });
    expect(() => budgetsOf(text)).toThrow('bench/budgets.json: ');
  });

  test('allows 15 % by hand and 30 % in CI, and gives no verdict beyond 40 % of spread', () => {
    expect([BUDGETS.tolerance, BUDGETS.spreadMax]).toEqual([{ hand: 0.15, ci: 0.3 }, 0.4]);
  });
});

describe('figures', () => {
  test('are the least of the rounds, with the distance of the median from it', () => {
    expect(summaryOf([12, 10, 50])).toEqual({ least: 10, spread: expect.closeTo(0.2) });
  });

  test('include a thread that began between two readings, and omit one that ended', () => {
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
  ])('with a ratio of %d, a pass of 1.3 and a great of 1.05 get the verdict %s', (ratio, verdict) => {
    expect(verdictOf({ ratio, spread: 0.1, pass: 1.3, great: 1.05 })).toBe(verdict);
  });

  test('have no verdict if the control spreads by more than 40 %', () => {
    expect(verdictOf({ ratio: 1, spread: 0.41, pass: 1.3, great: 1.05 })).toBe('too noisy');
  });

  test('have no verdict if the design has no target', () => {
    expect(verdictOf({ ratio: 1, spread: 0.1 })).toBe('-');
  });
});

test('gives scenarios unique names, existing controls, ordered targets, and a budget each', () => {
  const names = SCENARIOS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, control, pass = Infinity, great = 0 } of SCENARIOS) {
    expect(great).toBeLessThan(pass);
    if (typeof control === 'object') expect(names).toContain(control.scenario);
    expect(BUDGETS.ratios, placeOfBudget('ratios', name)).toHaveProperty(name);
  }
});

test('counts the CPU time of ended threads in that of their process', async () => {
  const before = cpuSecondsOf(process.pid, 'own');
  const code = 'const start = process.cpuUsage(); while (process.cpuUsage(start).user < 200_000);';
  const worker = new Worker(code, { eval: true });
  await new Promise((resolve) => worker.once('exit', resolve));
  expect(cpuSecondsOf(process.pid, 'own') - before).toBeGreaterThan(0.15);
});
