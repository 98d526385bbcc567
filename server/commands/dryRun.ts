// The output of `serve --check`: each setting with its value and source, and the data that would be served. Starts no
// server, opens no port and writes nothing.
import { closeSync, existsSync } from 'node:fs';
import { decodePointer, readCurrent } from '../../data/distribution/target.ts';
import { openTarget } from '../../data/distribution/openTarget.ts';
import { openDataSet } from '../../data/import/ndjson.ts';
import { openDataFile } from '../../data/open.ts';
import { OperationError } from '../../data/operationError.ts';
import { describeSnapshot } from '../../data/store/load.ts';
import { loadOrThrow } from '../authority/configuration/load.ts';
import { epochSeconds } from '../observe/clock.ts';
import { bytesText, countText } from '../observe/quantities.ts';
import { SAMPLE, type Settings, targetAccess } from '../settings/declarations.ts';
import { tableText } from './terminal.ts';

const TIMEOUT_MS = 10_000;

/**
 * Describes what would run under these settings. `rows` describe the settings (readOrigins). Reads only headers and
 * names of the data, but the authority's whole configuration. Throws OperationError `file`, `snapshot` or `input` for
 * anything that would keep a server from starting.
 */
export async function dryRunText(settings: Settings, rows: readonly (readonly string[])[]): Promise<string> {
  const { from } = settings;
  const lines = [
    from === undefined ? await dataLine(settings) : await targetLine(from, settings),
    authorityLine(settings),
  ];
  return [tableText([['setting', 'value', 'from'], ...rows]), ...lines].join('\n');
}

/** An unreachable target is no error: a server with a cache starts without it. */
async function targetLine(from: string, settings: Settings): Promise<string> {
  const target = await openTarget(from, { timeoutMs: TIMEOUT_MS, ...targetAccess(settings) });
  try {
    const pointer = await readCurrent(target);
    if (!pointer) return `data: nothing is published to ${target.name} yet`;
    const { size, generation, sequence } = decodePointer(pointer.text, target.name);
    return `data: of ${target.name}, a snapshot (${bytesText(size)}), generation ${generation}, number ${sequence}`;
  } catch (error) {
    if (!(error instanceof OperationError) || error.code === 'usage') throw error;
    return `data: of ${target.name}, which gives none now: ${error.message}`;
  } finally {
    await target.close();
  }
}

async function dataLine({ data, follow }: Settings): Promise<string> {
  if (follow !== undefined && !existsSync(data)) return `data: none yet; it is fetched from ${follow} first`;
  const held = openDataFile(data);
  if (!held) {
    const { files } = await openDataSet(data);
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    return `data: a directory of ${countText(files.length)} files (${bytesText(bytes)}), imported at each start`;
  }
  try {
    const { bytes, generation } = describeSnapshot(held);
    return `data: a snapshot file (${bytesText(bytes)}), generation ${generation}; use verify to check all of it`;
  } finally {
    closeSync(held.descriptor);
  }
}

function authorityLine({ authority: file, data }: Settings): string {
  if (file === undefined) return `attribute authority: ${data === SAMPLE ? 'a demonstration' : 'none'}`;
  const { siteName } = loadOrThrow(file, epochSeconds()).data;
  return `attribute authority: ${siteName}, whose configuration has no errors`;
}
