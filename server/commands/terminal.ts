// Output for terminals: progress as a bar, or as a plain line every few seconds if the output is not a terminal;
// aligned tables; amounts and durations as text.
import type { SingleBar } from 'cli-progress';
import { OperationError } from '../../data/operationError.ts';
import type { OnProgress, Progress } from '../../data/progress.ts';
import { type Clock, epochMs, steadyMs } from '../observe/clock.ts';
import type { Report } from '../observe/events.ts';
import { bytesText, countText } from '../observe/quantities.ts';
import { withoutSecrets } from '../settings/values.ts';

/** `process.stdout`, `process.stderr`, or a list in a test. */
export interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/**
 * Reports to an output: plain text, or JSON lines with `time` (ISO 8601, UTC), `level` and `message`, plus `event` and
 * its figures for a step of the data. Uses no library: pino adds 45 ms and 29 modules to each start.
 */
export function reportTo(output: Output, isJson: boolean): Report {
  if (!isJson)
    return (text) => {
      finishBars();
      output.write(`${text}\n`);
    };
  return (message, level = 'info', step) => {
    const time = new Date(epochMs()).toISOString();
    output.write(`${JSON.stringify({ time, level, message, ...step })}\n`);
  };
}

/** Whether the reports of a server are JSON lines. `auto` uses plain text only on a terminal. */
export function isForMachines(logFormat: 'auto' | 'people' | 'json', output: Output): boolean {
  return logFormat === 'json' || (logFormat === 'auto' && output.isTTY !== true);
}

/** Runs work with a report. In a JSON log, its error is an event instead of a line on standard error. */
export async function withReport<T>(isJson: boolean, output: Output, work: (report: Report) => Promise<T>): Promise<T> {
  const report = reportTo(output, isJson);
  try {
    return await work(report);
  } catch (error) {
    if (isJson && error instanceof OperationError && error.code !== 'usage') {
      const reason = withoutSecrets(error.message);
      report(reason, 'error', { event: 'refused', reason });
      error.isLogged = true;
    }
    throw error;
  }
}

/** Removes the current progress bar, if any. The next progress shows it again. */
let finishBars = (): void => undefined;

/** A rate over less time than this does not predict the remaining time. */
const PACE_MS_MIN = 2000;

/** Shortest interval between plain lines, so that the log of a long import stays short. */
const LINE_EVERY_MS = 3000;

/** Shows progress on `output`. The bar is removed when the work ends, also by Ctrl-C, and before each report. */
export async function withProgress<T>(
  output: Output,
  work: (onProgress: OnProgress) => Promise<T>,
  clock: Clock = steadyMs,
): Promise<T> {
  if (!output.isTTY) return work(progressLines(output, clock));
  const bars = await progressBars(output as NodeJS.WriteStream, clock);
  const before = finishBars;
  finishBars = bars.finish;
  for (const signal of ENDING) process.prependOnceListener(signal, exitAfterBar);
  try {
    return await work(bars.onProgress);
  } finally {
    bars.finish();
    finishBars = before;
    for (const signal of ENDING) process.off(signal, exitAfterBar);
  }
}

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Ends the process as the signal would, unless it has another listener. */
function exitAfterBar(signal: NodeJS.Signals): void {
  finishBars();
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}

/** Lines such as `reading platforms: 40 % (2.0 MB of 5.0 MB), 12 s left`; none for short work. */
export function progressLines(output: Output, clock: Clock): OnProgress {
  let last = clock();
  const amountText = amounts(clock);
  return (progress) => {
    const now = clock();
    const amount = amountText(progress);
    if (now - last < LINE_EVERY_MS) return;
    last = now;
    output.write(`${progress.phase}: ${amount}\n`);
  };
}

/** Imported only here, because most outputs are not terminals. */
async function progressBars(
  stream: NodeJS.WriteStream,
  clock: Clock,
): Promise<{ readonly onProgress: OnProgress; finish(): void }> {
  const library = await import('cli-progress');
  let bar: SingleBar | undefined;
  let phase: string | undefined;
  const finish = (): void => {
    bar?.stop();
    bar = undefined;
    phase = undefined;
  };
  const amountText = amounts(clock);
  const onProgress: OnProgress = (progress) => {
    const amount = amountText(progress);
    if (progress.phase !== phase) {
      finish();
      phase = progress.phase;
      // gracefulExit would end a process whose listeners shut it down in order. Without it the terminal keeps its
      // state.
      const options = { stream, clearOnComplete: true, gracefulExit: false, linewrap: true, hideCursor: null };
      bar = new library.SingleBar({ ...options, emptyOnZero: true, barsize: 30, format: '{phase} [{bar}] {amount}' });
      bar.start(progress.total, progress.done, { phase, amount });
    }
    bar?.setTotal(progress.total);
    bar?.update(progress.done, { phase, amount });
  };
  return { onProgress, finish };
}

/** The progress and the remaining time at the pace so far. Phases with the same total count as one piece of work. */
function amounts(clock: Clock): (progress: Progress) => string {
  let start = { total: -1, done: 0, ms: 0 };
  return (progress) => {
    const { done, total } = progress;
    if (start.total !== total || done < start.done) start = { total, done, ms: clock() };
    const ms = clock() - start.ms;
    const amount = amountText(progress);
    if (total === 0 || done === start.done || ms < PACE_MS_MIN) return amount;
    const perSecond = ((done - start.done) * 1000) / ms;
    const rate = progress.unit === 'bytes' ? '' : `, ${countText(Math.round(perSecond))}/s`;
    return `${amount}${rate}, ${durationText((total - done) / perSecond)} left`;
  };
}

export function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 100 ? `${whole} s` : `${Math.ceil(whole / 60)} min`;
}

function amountText({ done, total, unit }: Progress): string {
  const text = unit === 'bytes' ? bytesText : countText;
  if (total === 0) return unit === 'bytes' ? text(done) : `${text(done)} ${unit}`;
  const percent = Math.floor((100 * done) / total);
  return `${percent} % (${text(done)} of ${text(total)}${unit === 'bytes' ? '' : ` ${unit}`})`;
}

/** Characters of a line: the width of a terminal unless its user changes it. */
const LINE_CHARACTERS = 80;
const GAP = '  ';

/**
 * Aligned columns under a head, numbers right-aligned. Wraps texts in lines of 80 characters, but breaks no word,
 * because paths and URLs are copied. No trailing blanks and no final line break. Benchmarks have wider tables.
 */
export function tableText(rows: readonly (readonly string[])[], charactersMax = LINE_CHARACTERS): string {
  const columns = (rows[0] ?? []).map((_, column) => {
    const cells = rows.map((row) => row[column] ?? '');
    const isNumeric = cells.length > 1 && cells.slice(1).every((cell) => /^[0-9]/.test(cell));
    return { width: longest(cells), least: isNumeric ? Infinity : longest(cells.flatMap(wordsOf)), isNumeric };
  });
  let excess = columns.reduce((sum, { width }) => sum + width + GAP.length, -GAP.length) - charactersMax;
  for (const column of columns.toSorted((a, b) => b.width - a.width)) {
    const width = Math.max(column.width - Math.max(excess, 0), Math.min(column.least, column.width));
    excess -= column.width - width;
    column.width = width;
  }
  return rows
    .flatMap((row) => {
      const cells = columns.map(({ width }, i) => wrapped(row[i] ?? '', width));
      return Array.from({ length: Math.max(...cells.map(({ length }) => length)) }, (_, line) =>
        columns
          .map(({ width, isNumeric }, i) => {
            const text = cells[i]![line] ?? '';
            return isNumeric ? text.padStart(width) : text.padEnd(width);
          })
          .join(GAP)
          .trimEnd(),
      );
    })
    .join('\n');
}

/** The lines of a text in words, each of at most `width` characters unless a word is longer. */
export function wrapped(text: string, width = LINE_CHARACTERS): readonly string[] {
  if (text.length <= width) return [text];
  const lines: string[] = [];
  for (const word of wordsOf(text)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Leading blanks, an indent, belong to the first word. */
function wordsOf(text: string): readonly string[] {
  return text.match(/^ *\S+|\S+/g) ?? [];
}

function longest(texts: readonly string[]): number {
  return texts.reduce((most, { length }) => Math.max(most, length), 0);
}
