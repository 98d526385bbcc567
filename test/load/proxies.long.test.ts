// The short form of `npm run bench -- --proxy`: every response is right at every rate, the rates are reached, and the
// replicas use no more CPU with a proxy in front than their budgets allow. Latencies are printed but not checked: the
// machine is shared.
import { beforeAll, describe, expect, test } from 'vitest';
import { guardedOf, noiseText, placeOfBudget } from '../../bench/budgets.ts';
import { CACHE_DIRECTORY } from '../../bench/load/dataSet.ts';
import { proxyFigures, type ProxyPoint, ratiosOf, runProxyBench, WAYS } from '../../bench/proxy/proxyBench.ts';
import { proxyTable } from '../../bench/report/report.ts';
import { hasProgram } from '../support/debian.ts';
import { tableText } from '../../server/commands/terminal.ts';

const PARTS = [0.1, 0.4];
const OPTIONS = {
  observations: 2000,
  seed: 1,
  cacheDirectory: CACHE_DIRECTORY,
  rounds: 2,
  requests: 400,
  seconds: 1,
  parts: PARTS,
};
const isHere = hasProgram('nginx') && hasProgram('haproxy') && hasProgram('openssl');

describe.skipIf(!isHere)('a mix of requests through the shipped proxies', () => {
  let points: readonly ProxyPoint[] = [];
  beforeAll(async () => {
    points = await runProxyBench(OPTIONS, { onProgress: () => {}, onStep: () => {} });
    process.stderr.write(`${tableText(proxyTable(points))}\n`);
  });

  test('is measured with every proxy and every load without an error', () => {
    expect(points.map(({ way, part }) => [way, part])).toEqual(
      [undefined, ...PARTS].flatMap((part) => WAYS.map((way) => [way, part])),
    );
    expect(points.filter(({ errors }) => errors > 0)).toEqual([]);
  });

  test('costs CPU in every process on its way, and in no other', () => {
    for (const { way, cpu } of points) {
      expect(cpu.replicas).toBeGreaterThan(0);
      expect(cpu.client).toBeGreaterThan(0);
      expect([way, cpu.proxy > 0]).toEqual([way, way !== 'direct']);
    }
  });

  test('is answered at the offered rate if that is low', () => {
    const direct = points[0]!.perSecond;
    for (const { part, perSecond } of points.filter((point) => point.part === PARTS[0])) {
      expect(perSecond / (direct * part!)).toBeGreaterThan(0.8);
    }
  });

  test.for(['nginx', 'haproxy'] as const)(
    'costs the replicas no more than budgeted with %s in front',
    (way, { skip }) => {
      const measured = proxyFigures(points).find(({ name }) => name === `${way}Replicas`)!;
      const guarded = guardedOf(measured, 'ci');
      skip(guarded === 'too noisy', `not judged: ${noiseText(measured)}`);
      expect(guarded, `${measured.ratio.toFixed(2)} is beyond ${placeOfBudget('ratios', measured.name)}`).toBe('held');
    },
  );

  test('has ratios of 1 without a proxy', () => {
    expect(ratiosOf(points[0]!, points)).toEqual({ p50: 1, p99: 1, p999: 1, replicas: 1, cpu: 1 });
  });
});
