import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const ENGINE = new URL('../../../../engine/', import.meta.url).href;

test('loads the Parquet writer in parts of at most ten modules', () => {
  const counting = `
    import { registerHooks } from 'node:module';
    const { readParquet, PARQUET_PARTS } = await import('${ENGINE}parquet.ts');
    await import('${ENGINE}engine.ts');
    const modules = new Set();
    registerHooks({
      resolve(specifier, context, next) {
        const found = next(specifier, context);
        if (/parquet/.test(found.url)) modules.add(found.url);
        return found;
      },
    });
    const counts = [];
    for (const part of [...PARQUET_PARTS, readParquet]) {
      const before = modules.size;
      await part();
      counts.push(modules.size - before);
    }
    process.stdout.write(JSON.stringify(counts));`;
  const counts = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '--eval', counting], { encoding: 'utf8' }),
  ) as number[];
  expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(30);
  expect(Math.max(...counts), counts.join(', ')).toBeLessThanOrEqual(10);
});
