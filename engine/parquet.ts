// The face of the engine for Parquet files: 43 modules with those of their library, read only where one is asked for.
// Only a re-export: the name is documented where it is defined.
export { parquetMeasuring } from './page/parquet.ts';
