// The source of the rows of a list: the cache, this thread or the pool; and which requests share work.
import { describe, expect, test } from 'vitest';
import {
  type CollectionIndex,
  findRows,
  type Hits,
  hitsOf as hitsOfRows,
  type List,
  Meter,
} from '../../../engine/engine.ts';
import type { HeavyFinding, HeavyQuery } from '../../../workers/protocol.ts';
import { type Router, routerOver } from '../../../workers/router.ts';
import { newTrace } from '../../../workers/heavyThreads.ts';
import { RowSetCache } from '../../../workers/rowSetCache.ts';
import type { Disconnection } from '../../../workers/waiter.ts';
import { indexOf } from '../../support/index.ts';
import { hitsOf, listOf } from '../../support/lists.ts';
import { rowsOf } from '../../support/pages.ts';
import { STAYING } from '../../support/requests.ts';

const ROWS = 6000;
const COLLECTION = indexOf(
  'observations',
  Array.from({ length: ROWS }, (_, i) => ({
    ob_id: i,
    title: `${'long '.repeat(4)}${i}`,
    status: i % 3 === 0 ? 'completed' : 'ongoing',
    publicationState: i % 2 === 0 ? 'citable' : 'published',
  })),
);
const LARGE = indexOf(
  'observations',
  Array.from({ length: 20_000 }, (_, i) => ({ ob_id: i, title: `a${i}` })),
);
const LIMITED = { options: { limitDefault: 10 } };

function queryOf(text: string, collection: CollectionIndex = COLLECTION): List {
  return listOf(collection, text, LIMITED);
}

function foundBy(
  { plan: planned, wants, set: known }: HeavyQuery,
  collection: CollectionIndex = COLLECTION,
): HeavyFinding {
  const meter = new Meter();
  const set = known ?? findRows(collection, planned, meter)!;
  const work = { counters: meter.counters, spentNs: meter.spent };
  if (wants === 'set') return { kind: 'set', set, ...work };
  const page = hitsOfRows(collection, set, planned, meter)!;
  return { kind: 'page', page, set: wants === 'both' ? set : undefined, ...work };
}

/** A pool of one thread, which is this one: it starts each task at once and finishes it when the test wants. */
class SlowPool {
  readonly #collection: CollectionIndex;

  constructor(collection: CollectionIndex) {
    this.#collection = collection;
  }

  readonly begun: { readonly query: HeavyQuery; readonly waiter: Disconnection; readonly end: () => void }[] = [];
  readonly run = (query: HeavyQuery, waiter: Disconnection): Promise<HeavyFinding | 'busy' | 'gone'> =>
    new Promise((resolve) => {
      const end = (): void => {
        if (waiter.isGone()) resolve('gone');
        else resolve(foundBy(query, this.#collection));
      };
      this.begun.push({ query, waiter, end });
    });
  endAll(): void {
    for (const { end } of this.begun) end();
  }
}

/** Enough for ready lists and for pages of known rows. */
const SMALL_NS = 1000;
/** Budget that suffices to find rows (all of which are worth caching), but not to order them. */
const LARGE_NS = 20_000;

function setUp(
  budgetNs: number,
  bytes = 1_000_000,
  collection = COLLECTION,
): { router: Router; cache: RowSetCache; pool: SlowPool } {
  const cache = new RowSetCache(bytes);
  const pool = new SlowPool(collection);
  return { router: routerOver({ generation: 'g', cache, runHeavy: pool.run, budgetNs }), cache, pool };
}

function truthOf(text: string): unknown {
  return asRows(hitsOf(COLLECTION, text, LIMITED));
}

function asRows(found: unknown): unknown {
  const { rows, ...others } = found as Hits;
  return { ...others, rows: rowsOf(rows) };
}

const COSTLY = 'title__lt=long%20long%20long%20long%205&publicationState=citable';
const HEAVY = 'title__contains=7';
/** More rows than the cached stretch of an ordered list. */
const WIDE = 'title__contains=1';

describe('a cheap plan', () => {
  test.each(['', 'status=completed', 'status!=completed', 'ob_id__in=1,2,3'])(
    '%s is answered at once, and its set is not cached: it is a view or small',
    (text) => {
      const { router, cache, pool } = setUp(LARGE_NS);
      expect(asRows(router.find(queryOf(text), STAYING))).toEqual(truthOf(text));
      expect([cache.size, cache.misses, pool.begun.length]).toEqual([0, 0, 0]);
    },
  );

  test('that combines many rows is found once for all pages of its walk, in any order of requests', () => {
    const { router, cache, pool } = setUp(LARGE_NS);
    for (const offset of [0, 500, 10, 990, 995, 1000, 5000]) {
      const text = `${COSTLY}&offset=${offset}`;
      expect(asRows(router.find(queryOf(text), STAYING))).toEqual(truthOf(text));
    }
    void router.find(queryOf(COSTLY.split('&').toReversed().join('&')), STAYING);
    expect([cache.size, cache.misses, cache.hits, pool.begun.length]).toEqual([1, 1, 7, 0]);
  });

  test('that is long is cached, and leaves no text of its length', async () => {
    const { router, cache, pool } = setUp(SMALL_NS);
    const long = `${COSTLY}&ob_id__in=${Array.from({ length: ROWS }, (_, i) => i).join()}`;
    for (const text of [`${long}&facets=title`, `${long}&facets=title&offset=10`]) {
      const found = router.find(queryOf(text), STAYING);
      pool.endAll();
      expect(asRows(await found)).toEqual(truthOf(text));
    }
    expect([cache.size, cache.misses, pool.begun.length]).toEqual([2, 1, 1]);
    expect(cache.bytes).toBeLessThan(long.length / 2);
  });

  test('is found again each time without a cache', () => {
    const { router, cache } = setUp(LARGE_NS, 0);
    for (let i = 0; i < 2; i++) expect(asRows(router.find(queryOf(COSTLY), STAYING))).toEqual(truthOf(COSTLY));
    expect([cache.size, cache.misses]).toEqual([0, 0]);
  });
});

describe('a near page of many rows', () => {
  const RANGE = 'ob_ref__range=100,699';
  const PROPERTIES = indexOf(
    'migrationproperties',
    Array.from({ length: 12_000 }, (_, i) => ({ id: i, ob_ref: (i * 7919) % 1000 })),
  );
  const truth = (text: string): unknown => {
    const { plan: planned } = queryOf(text, PROPERTIES);
    return asRows(hitsOfRows(PROPERTIES, findRows(PROPERTIES, planned)!, planned));
  };

  test.each([0, 1_000_000])('is found without pool or cache, which has %i bytes', (bytes) => {
    const { router, cache, pool } = setUp(LARGE_NS, bytes, PROPERTIES);
    for (const text of [RANGE, `${RANGE}&offset=50`, `${RANGE}&offset=7&limit=3`, 'ob_ref__range!=100,599']) {
      const trace = newTrace();
      expect(asRows(router.find(queryOf(text, PROPERTIES), STAYING, trace))).toEqual(truth(text));
      expect(trace).toMatchObject({ place: 'inline', isKept: false, counters: { postingsVisited: 0 } });
    }
    expect([cache.size, pool.begun.length]).toEqual([0, 0]);
    expect(router.statistics()).toMatchObject({ inline: 4, pooled: 0 });
  });

  test('is taken from the cached rows after a page of the same filter that is not near', () => {
    const { router } = setUp(LARGE_NS, 1_000_000, PROPERTIES);
    const find = (text: string, trace = newTrace()): unknown =>
      asRows(router.find(queryOf(text, PROPERTIES), STAYING, trace));
    expect(find(`${RANGE}&offset=6000`)).toEqual(truth(`${RANGE}&offset=6000`));
    const trace = newTrace();
    expect(find(RANGE, trace)).toEqual(truth(RANGE));
    expect(trace).toMatchObject({ place: 'cache', isKept: true });
  });
});

describe('a list with an order or facets', () => {
  const FEW = `${COSTLY}&ob_id__lt=200`;

  test.each(['after=3', 'ordering=-ob_id', 'ordering=status', 'facets=status,publicationState'])(
    'with %s is shown from the cached set if that is little work',
    (shown) => {
      const { router, cache, pool } = setUp(LARGE_NS);
      void router.find(queryOf(FEW), STAYING);
      const text = `${FEW}&${shown}&limit=7`;
      expect(asRows(router.find(queryOf(text), STAYING))).toEqual(truthOf(text));
      expect([cache.size, cache.hits, pool.begun.length]).toEqual([1, 1, 0]);
    },
  );

  test.each(['ordering=title', 'ordering=-title&limit=3', 'facets=title', `${HEAVY}&ordering=title`])(
    '%s is ordered and counted in the pool, whatever is cached, and shared by equal requests',
    async (shown) => {
      const { router, pool } = setUp(SMALL_NS);
      const first = router.find(queryOf(HEAVY), STAYING);
      pool.endAll();
      await first;
      const texts = [`${COSTLY}&${shown}`, `${shown}&${COSTLY}`, `${COSTLY}&${shown}&offset=20`];
      const found = texts.map(async (text) => router.find(queryOf(text), STAYING));
      expect(pool.begun.map(({ query }) => query.wants)).toEqual(['set', 'both']);
      pool.endAll();
      expect((await Promise.all(found.map(async (one) => one))).map(asRows)).toEqual(texts.map(truthOf));
      expect(router.statistics()).toMatchObject({ sets: 3, joined: 2 });
    },
  );

  test('is ordered once for a long stretch of its walk, its filter once for all, whichever page comes first', async () => {
    const { router, pool } = setUp(SMALL_NS);
    const pageAt = async (offset: number): Promise<void> => {
      const text = `${WIDE}&ordering=-title,ob_id&limit=100&offset=${offset}`;
      const found = router.find(queryOf(text), STAYING);
      pool.endAll();
      expect(asRows(await found), text).toEqual(truthOf(text));
    };
    const { count } = truthOf(WIDE) as { readonly count: number };
    expect(count).toBeGreaterThan(2048);
    for (let offset = 300; offset < count + 200; offset += 100) await pageAt(offset);
    for (const offset of [0, 2000, 2047, 2048, 2100]) await pageAt(offset);
    expect(pool.begun.map(({ query }) => [query.wants, query.set === undefined])).toEqual([
      ['both', true],
      ['page', false],
    ]);
    expect(router.find(queryOf(`${WIDE}&ordering=-title,ob_id&limit=7`), STAYING)).not.toBeInstanceOf(Promise);
  });

  test('is ordered for each page beyond a stretch, from the cached rows', async () => {
    const { router, pool } = setUp(SMALL_NS);
    for (const text of [`${HEAVY}&ordering=title&limit=2049`, `${HEAVY}&ordering=title&limit=3000`]) {
      const found = router.find(queryOf(text), STAYING);
      pool.endAll();
      expect(asRows(await found)).toEqual(truthOf(text));
    }
    expect(pool.begun.map(({ query }) => [query.wants, query.plan.page.limit, query.set === undefined])).toEqual([
      ['both', 2049, true],
      ['page', 3000, false],
    ]);
  });

  test('has its facets counted once for all pages by id', async () => {
    const { router, pool } = setUp(SMALL_NS);
    for (const page of ['', '&offset=30', '&after=900&limit=3', '&limit=2048']) {
      const text = `${HEAVY}&facets=title,status${page}`;
      const found = router.find(queryOf(text), STAYING);
      pool.endAll();
      expect(asRows(await found), text).toEqual(truthOf(text));
    }
    expect(pool.begun.map(({ query }) => query.wants)).toEqual(['both']);
  });

  test('is ordered in the pool if its set is cached but large', async () => {
    const { router, cache, pool } = setUp(LARGE_NS);
    void router.find(queryOf(COSTLY), STAYING);
    const text = `${COSTLY}&ordering=title`;
    const found = router.find(queryOf(text), STAYING);
    expect([cache.hits, pool.begun.map(({ query }) => query.wants)]).toEqual([1, ['page']]);
    pool.endAll();
    expect(asRows(await found)).toEqual(truthOf(text));
  });
});

describe('a heavy plan', () => {
  test('runs in the pool once for its walk: later pages are answered at once', async () => {
    const { router, pool } = setUp(SMALL_NS);
    const first = router.find(queryOf(HEAVY), STAYING);
    expect(first).toBeInstanceOf(Promise);
    pool.endAll();
    expect(asRows(await first)).toEqual(truthOf(HEAVY));
    for (const offset of [10, 2000, 0]) {
      const text = `${HEAVY}&offset=${offset}`;
      expect(asRows(router.find(queryOf(text), STAYING))).toEqual(truthOf(text));
    }
    expect(pool.begun.map(({ query }) => query.wants)).toEqual(['set']);
  });

  test('is not run again if it is requested again while it runs, and each request gets its page', async () => {
    const { router, pool } = setUp(SMALL_NS);
    const texts = [HEAVY, `${HEAVY}&offset=20`, `${HEAVY}&limit=3`];
    const found = texts.map(async (text) => router.find(queryOf(text), STAYING));
    expect([pool.begun.length, router.statistics().joined]).toEqual([1, 2]);
    pool.endAll();
    expect((await Promise.all(found.map(async (one) => one))).map(asRows)).toEqual(texts.map(truthOf));
  });

  test.each([
    [HEAVY, WIDE],
    [`${HEAVY}&ordering=title`, `${WIDE}&ordering=title`],
    [`${HEAVY}&ordering=title`, `${HEAVY}&ordering=-title`],
    [`${HEAVY}&facets=title`, `${HEAVY}&facets=title,status`],
    [`${HEAVY}&ordering=title`, `${HEAVY}&ordering=title&offset=3000`],
  ])('does not share the work of another one: %s and %s', async (...texts) => {
    for (const bytes of [0, 1_000_000]) {
      const { router, pool } = setUp(SMALL_NS, bytes);
      const found = texts.map((text) => router.find(queryOf(text), STAYING));
      pool.endAll();
      expect((await Promise.all(found.map(async (one) => one))).map(asRows)).toEqual(texts.map(truthOf));
      expect([pool.begun.length, router.statistics().joined]).toEqual([2, 0]);
    }
  });

  test('is traced: the pool and its work first, then shared work, then the cache', async () => {
    const { router, pool } = setUp(SMALL_NS);
    const traces = [newTrace(), newTrace(), newTrace()];
    const found = traces.slice(0, 2).map(async (trace) => router.find(queryOf(HEAVY), STAYING, trace));
    pool.endAll();
    await Promise.all(found);
    await router.find(queryOf(`${HEAVY}&offset=20`), STAYING, traces[2]);
    expect(traces.map(({ place, isKept, isShared }) => [place, isKept, isShared])).toEqual([
      ['pool', false, false],
      ['pool', false, true],
      ['cache', true, false],
    ]);
    expect(traces.map(({ counters }) => counters.bytesScanned > 0)).toEqual([true, true, false]);
    void router.find(queryOf('status=completed'), STAYING, traces[0]);
    expect(router.statistics()).toMatchObject({ inline: 1, pooled: 1, joined: 1, hits: 1, misses: 2, sets: 1 });
  });

  test('answers only pages if nothing can be cached, shared by equal requests', async () => {
    const { router, pool } = setUp(SMALL_NS, 100);
    const texts = [HEAVY, `${HEAVY}&offset=20`, HEAVY];
    const found = texts.map(async (text) => router.find(queryOf(text), STAYING));
    expect(pool.begun.map(({ query }) => [query.wants, query.plan.page.offset])).toEqual([
      ['page', 0],
      ['page', 20],
    ]);
    pool.endAll();
    expect((await Promise.all(found.map(async (one) => one))).map(asRows)).toEqual(texts.map(truthOf));
  });

  test('is abandoned when the last waiting client has disconnected', async () => {
    const { router, pool } = setUp(SMALL_NS);
    const leave: (() => void)[] = [];
    let isGone = false;
    const leaving: Disconnection = {
      isGone: () => isGone,
      isComingBack: () => false,
      onGone: (listener) => void leave.push(listener),
    };
    const left = router.find(queryOf(HEAVY), leaving);
    const stayed = router.find(queryOf(HEAVY), STAYING);
    isGone = true;
    for (const listener of leave) listener();
    expect(pool.begun[0]!.waiter.isGone()).toBe(false);
    pool.endAll();
    expect(await left).toBe('gone');
    expect(asRows(await stayed)).toEqual(truthOf(HEAVY));
  });

  test('is cancelled if its only client disconnects', async () => {
    const { router, pool, cache } = setUp(SMALL_NS);
    const leave: (() => void)[] = [];
    const gone: Disconnection = {
      isGone: () => true,
      isComingBack: () => false,
      onGone: (listener) => void leave.push(listener),
    };
    const found = router.find(queryOf(HEAVY), gone);
    for (const listener of leave) listener();
    expect(pool.begun[0]!.waiter.isGone()).toBe(true);
    pool.endAll();
    expect([await found, cache.size]).toEqual(['gone', 0]);
  });

  test('is listed in the pool too if the page has very many rows, once for all that wait', async () => {
    const cache = new RowSetCache(10_000_000);
    const pool = new SlowPool(LARGE);
    const router = routerOver({ generation: 'g', cache, runHeavy: pool.run, budgetNs: SMALL_NS });
    const asked = ['20000', '20000', '10'].map(async (limit) => {
      return router.find(queryOf(`title__contains=7&limit=${limit}`, LARGE), STAYING);
    });
    const { count } = hitsOf(LARGE, 'title__contains=7');
    pool.endAll();
    expect(await asked[2]).toMatchObject({ count });
    await expect.poll(() => pool.begun.length).toBe(2);
    pool.endAll();
    for (const found of await Promise.all(asked)) expect(found).toMatchObject({ count });
    expect(pool.begun[1]!.query).toMatchObject({ wants: 'page' });
  });

  test('reports a full queue, and caches nothing', async () => {
    const cache = new RowSetCache(1_000_000);
    const router = routerOver({
      generation: 'g',
      cache,
      runHeavy: () => Promise.resolve('busy'),
      budgetNs: SMALL_NS,
    });
    expect(await router.find(queryOf(HEAVY), STAYING)).toBe('busy');
    expect(cache.size).toBe(0);
  });
});
