// The face of the engine for Parquet files. What makes them is 43 modules with those of their library, read only where
// one is asked for, and in parts: at once they take 30 ms, which all other requests of a thread would wait.
import type { parquetMeasuring } from './page/parquet.ts';

/** Read them in order, with turns of the event loop between, before `readParquet`: each part takes some 4 ms. */
export const PARQUET_PARTS: readonly (() => Promise<unknown>)[] = [
  () => import('hyparquet/src/metadata.js'),
  () => import('hyparquet/src/column.js'),
  () => import('hyparquet/src/plan.js'),
  () => import('hyparquet'),
  () => import('hyparquet-writer/src/metadata.js'),
  () => import('hyparquet-writer/src/datapage.js'),
  () => import('./page/parquetColumns.ts'),
  () => import('./page/parquetPages.ts'),
];

/** What makes Parquet files. Cost: what was not read of it before. */
export async function readParquet(): Promise<typeof parquetMeasuring> {
  return (await import('./page/parquet.ts')).parquetMeasuring;
}
