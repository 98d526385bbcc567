// What the import command does with its flags, each step told as an event; snapshotCommands.ts declares them, and the
// import itself is data/import/import.ts.
import { foundAt, putInPlace } from '../../data/files.ts';
import { importDirectory } from '../../data/import/import.ts';
import { unfinished } from '../../data/leftovers.ts';
import { OperationError } from '../../data/operationError.ts';
import { secondsSince, steadyMs } from '../observe/clock.ts';
import type { Report } from '../observe/events.ts';
import { readSettings } from '../settings/declarations.ts';
import type { Flags } from '../settings/sources.ts';
import { compressTold } from './compress.ts';
import type { Outputs } from './parts.ts';
import { importText, profileText } from './reports.ts';
import { type Output, withProgress, withReport } from './terminal.ts';

/** The flags of the command beside its settings. */
export interface ImportFlags {
  readonly output: string;
  readonly created?: string;
  readonly lenient?: boolean;
  readonly takeNulls?: boolean;
  readonly profile?: boolean;
  readonly without?: string;
  readonly threads: number;
  readonly baseUrl?: string;
}

/** Builds the snapshot file of a directory, and its compressed records where asked to. Throws as those do. */
export async function runImport(
  directory: string,
  flags: ImportFlags,
  settings: Flags,
  { stdout, stderr }: Outputs,
): Promise<void> {
  const { logFormat } = readSettings(settings);
  await withReport(logFormat, stdout, (report) => importTold(directory, flags, report, stderr));
}

async function importTold(directory: string, flags: ImportFlags, report: Report, stderr: Output): Promise<void> {
  const { output, threads, baseUrl } = flags;
  refuseDirectory(output);
  if (baseUrl === undefined) return (await built(directory, flags, output, stderr)).tell(report);
  // Who watches for a new snapshot finds its compressed records with it.
  await unfinished(output, async (file) => {
    const { generation, tell } = await built(directory, flags, file, stderr);
    const compression = { file, name: output, generation, baseUrl, threads };
    try {
      await compressTold(compression, report, (work) => withProgress(stderr, work));
    } finally {
      putInPlace(file, output);
      tell(report);
    }
  });
}

/** Builds a snapshot file that will be the output; answers its generation, and what tells of it once it is there. */
async function built(
  directory: string,
  { output, created, lenient = false, takeNulls, profile: isProfiled = false, threads, without }: ImportFlags,
  file: string,
  stderr: Output,
): Promise<{ readonly generation: string; tell(report: Report): void }> {
  const startMs = steadyMs();
  const options = { directory, file, created, isLenient: lenient, takesNulls: takeNulls, threads, without };
  const made = await withProgress(stderr, (onProgress) => importDirectory(options, onProgress));
  const { generation, snapshotBytes: bytes, work } = made;
  const ignored = made.ignored.join(', ') || undefined;
  const seconds = secondsSince(startMs);
  const stages = isProfiled ? made.stages : [];
  const cpuSeconds = stages.map((one) => [`${one.stage}CpuSeconds`, Number(one.seconds.toFixed(3))] as const);
  const text = [importText(made, output), ...(isProfiled ? [profileText(made)] : [])].join('\n');
  const figures = { bytes, ...work, ignored, seconds, ...Object.fromEntries(cpuSeconds) };
  return { generation, tell: (report) => report(text, 'info', { event: 'built', generation, ...figures }) };
}

/** Before the import, which may take minutes: only its last step, the move to that name, would find out. */
function refuseDirectory(output: string): void {
  if (!foundAt(output)?.isDirectory()) return;
  throw new OperationError('usage', `--output ${output} is a directory; want the name of the file to write`);
}
