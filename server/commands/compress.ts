import { statSync } from 'node:fs';
import { keepBlocks } from '../../data/blocks/blockStore.ts';
import type { ShowProgress } from '../process/loadGeneration.ts';
import { secondsSince, steadyMs } from '../observe/clock.ts';
import type { Report } from '../observe/events.ts';
import { deflatedText } from '../observe/quantities.ts';

export interface Compression {
  readonly file: string;
  /** The later name of `file`. */
  readonly name?: string;
  readonly generation: string;
  readonly baseUrl: string;
  readonly threads: number;
}

/** Compresses the records of a snapshot, stores them next to it and reports it. Throws and costs as keepBlocks does. */
export async function compressWithReport(
  { file: snapshot, name, generation, baseUrl, threads }: Compression,
  report: Report,
  show: ShowProgress,
): Promise<void> {
  const startMs = steadyMs();
  const { file, made } = await show((onProgress) => keepBlocks(snapshot, { baseUrl, threads, name }, onProgress));
  const seconds = secondsSince(startMs);
  const figures = { generation, bytes: statSync(file).size, seconds, ...made };
  report(`${file}: the records compressed for ${baseUrl}${deflatedText(made)}`, 'info', {
    event: 'compressed',
    ...figures,
  });
}
