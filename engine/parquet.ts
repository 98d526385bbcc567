// The entry of the engine for Parquet files. With their library they are 43 modules, which are loaded only on request,
// and in parts. Loaded at once, they would block all other requests of a thread for 30 ms.
import type { parquetMeasuring } from './page/parquet.ts';

/** Call these in order before `readParquet`, with turns of the event loop in between. Each part takes about 4 ms. */
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

/** Loads the function that makes Parquet files. Cost: the modules that are not loaded yet. */
export async function readParquet(): Promise<typeof parquetMeasuring> {
  return (await import('./page/parquet.ts')).parquetMeasuring;
}
