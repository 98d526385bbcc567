// The access log: all serving threads append whole lines to one file, each through a separate buffer, without delaying
// requests. If the disk is slow or full, lines are dropped and counted.
// Uses sonic-boom, as pino does. pino itself would add 45 ms to the start of each thread and take 1.6 us per line
// instead of 0.5.
import { statSync } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import library, { type SonicBoom } from 'sonic-boom';
import { type Clock, steadyMs } from './clock.ts';
import type { Report } from './events.ts';
import { assertAppendable } from './log.ts';
import { countText } from './quantities.ts';
import type { Tally } from './tally.ts';

const WRITTEN = 0;
const DROPPED = 1;

const STANDARD_OUTPUT = '-';
const STANDARD_OUTPUT_FD = 1;

export interface AccessLogLink {
  readonly path: string;
  /** One request in this many is logged. */
  readonly sample: number;
  readonly lines: Tally;
  /** Shared by all threads, see `Word`. */
  readonly words: Int32Array;
}

const Word = { reopen: 0, failed: 1, errno: 2 } as const;

/** Not readable by other users, because it shows the requests of clients. */
const FILE_MODE = 0o640;
/** Limit of bytes per thread that wait for the disk: 10 s of 1,000 requests a second. */
const WAITING_BYTES_MAX = 4 << 20;
/** Whole lines per write: a file accepts any number of bytes (O_APPEND), a pipe 4 kB (PIPE_BUF). */
const FILE_WRITE = { maxWrite: 65_536, minLength: 16_384 } as const;
const PIPE_WRITE = { maxWrite: 4096, minLength: 3072 } as const;
/** The longest time that lines are buffered to be written together. */
const FLUSH_MS = 250;
const CLOSE_MS = 2000;

function takesStandardOutput(path: string | undefined): boolean {
  return path === STANDARD_OUTPUT;
}

/** How often the supervisor checks for losses, and the shortest interval between reports. */
const LOOK_MS = 1000;
const REPORT_MS = 60_000;

export class AccessLogs {
  readonly #path: string;
  readonly #sample: number;
  readonly #report: Report;
  readonly #clock: Clock;
  readonly #words = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));
  readonly #tallies: Tally[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #onSignal = (): void => this.reopen();
  #reported = { failed: 0, dropped: 0, ms: -Infinity };

  /** Throws OperationError `file` if the log cannot be opened now. */
  constructor(path: string, sample: number, report: Report, clock: Clock = steadyMs) {
    if (!takesStandardOutput(path)) assertAppendable('access log', path, FILE_MODE);
    this.#path = path;
    this.#sample = sample;
    this.#report = report;
    this.#clock = clock;
    this.#timer = setInterval(() => this.poll(), LOOK_MS).unref();
    process.on('SIGUSR2', this.#onSignal);
  }

  link(lines: Tally): AccessLogLink {
    this.#tallies.push(lines);
    return { path: this.#path, sample: this.#sample, lines, words: this.#words };
  }

  /** All threads reopen the file within FLUSH_MS. */
  reopen(): void {
    Atomics.add(this.#words, Word.reopen, 1);
  }

  /** Reports the losses since the last report, at most once a minute. */
  poll(isLast = false): void {
    const dropped = this.#tallies.reduce((sum, tally) => sum + tally[DROPPED]!, 0);
    const failed = Atomics.load(this.#words, Word.failed);
    const nowMs = this.#clock();
    if (
      (dropped === this.#reported.dropped && failed === this.#reported.failed) ||
      nowMs - this.#reported.ms < REPORT_MS
    )
      return;
    const lostText = countText(dropped - this.#reported.dropped);
    const errno = Atomics.load(this.#words, Word.errno);
    const reason = failed === this.#reported.failed || errno === 0 ? 'fast enough' : `(${getSystemErrorName(errno)})`;
    this.#reported = { failed, dropped, ms: nowMs };
    const retryText = isLast ? '' : ', waiting lines are retried';
    this.#report(
      `the access log ${this.#path} cannot be written ${reason}: ${lostText} lines dropped${retryText}`,
      'error',
    );
  }

  /** Reports the remaining losses and stops checking. */
  stop(): void {
    clearInterval(this.#timer);
    process.off('SIGUSR2', this.#onSignal);
    this.#reported.ms = -Infinity;
    this.poll(true);
  }
}

/** Flushes before a file that could not be opened is tried again. */
const FLUSHES_BETWEEN = 4;

/** A stream to the file with the lines and bytes given to it and the bytes written. Every character is one byte. */
interface OpenFile {
  readonly stream: SonicBoom;
  lines: number;
  bytes: number;
  bytesWritten: number;
}

/** Lines that wait in a file's stream, estimated by their mean length. */
function waitingLines({ lines, bytes, bytesWritten }: OpenFile): number {
  return bytes === 0 ? 0 : Math.ceil((lines * (bytes - bytesWritten)) / bytes);
}

export class AccessLog {
  /** The open file. */
  #file: OpenFile | undefined;
  /** The file that is being opened, as the first or to replace `#file`. */
  #opening: OpenFile | undefined;
  #untilTry = 0;
  readonly #link: AccessLogLink;
  readonly #isFile: boolean;
  readonly #timer: NodeJS.Timeout;
  #opened: number;

  constructor(link: AccessLogLink) {
    this.#link = link;
    this.#isFile = !takesStandardOutput(link.path);
    this.#opened = Atomics.load(link.words, Word.reopen);
    this.#open(this.#opened);
    this.#timer = setInterval(() => this.#flush(), FLUSH_MS).unref();
  }

  /**
   * Writes one line, including its line end, shorter than a write. Never throws. Cost: a copy; the event loop does the
   * writing.
   */
  write(line: string): void {
    const file = this.#file ?? this.#opening;
    if (!file) return this.#drop(1);
    const { lines } = this.#link;
    const dropped = lines[DROPPED];
    file.stream.write(line);
    if (lines[DROPPED] !== dropped) return;
    file.lines++;
    file.bytes += line.length;
    // Lines that are written before the first file is open are counted when it opens.
    if (file === this.#file) lines[WRITTEN]! += 1;
  }

  /** Writes the buffered lines, as far as the disk accepts them within CLOSE_MS. Nothing may be logged afterwards. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const file = this.#file ?? this.#opening;
    if (!file) return;
    const { stream } = file;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, CLOSE_MS);
      for (const end of ['close', 'error'] as const) {
        stream.once(end, () => {
          clearTimeout(timer);
          resolve();
        });
      }
      stream.end();
    });
    this.#abandon(file);
  }

  /**
   * Opens the file with a new stream each time: a stream that failed to open would write to no file, or to another one.
   */
  #open(reopenCount: number): void {
    const { path, words } = this.#link;
    const stream = new library.SonicBoom({
      dest: this.#isFile ? path : STANDARD_OUTPUT_FD,
      mode: FILE_MODE,
      maxLength: WAITING_BYTES_MAX,
      ...(this.#isFile && !isPipe(path) ? FILE_WRITE : PIPE_WRITE),
    });
    const file: OpenFile = { stream, lines: 0, bytes: 0, bytesWritten: 0 };
    this.#opening = file;
    stream.on('drop', () => this.#drop(1));
    stream.on('write', (bytes: number) => (file.bytesWritten += bytes));
    stream.once('ready', () => {
      this.#file?.stream.end();
      this.#link.lines[WRITTEN]! += file.lines;
      [this.#file, this.#opening, this.#opened] = [file, undefined, reopenCount];
    });
    // The stream keeps failed writes, up to the limit, and retries them with the next lines. For a file that has been
    // replaced they are dropped: the stream would keep the space of a removed file occupied.
    stream.on('error', ({ errno = 0 }: NodeJS.ErrnoException) => {
      Atomics.store(words, Word.errno, errno);
      Atomics.add(words, Word.failed, 1);
      if (file === this.#opening) this.#giveUp(file);
      else if (file !== this.#file) this.#abandon(file);
    });
  }

  /** Until the next attempt, lines go to the currently open file, if any. */
  #giveUp(file: OpenFile): void {
    this.#opening = undefined;
    this.#untilTry = FLUSHES_BETWEEN;
    this.#abandon(file);
  }

  /** The buffered lines are lost, although they were counted as taken. */
  #abandon(file: OpenFile): void {
    this.#drop(waitingLines(file));
    file.lines = file.bytes = file.bytesWritten = 0;
    file.stream.destroy();
  }

  #drop(lines: number): void {
    this.#link.lines[DROPPED]! += lines;
  }

  #flush(): void {
    const reopenCount = Atomics.load(this.#link.words, Word.reopen);
    const isDue = !this.#file || (this.#isFile && reopenCount !== this.#opened);
    if (isDue && !this.#opening && --this.#untilTry < 0) this.#open(reopenCount);
    this.#file?.stream.flush();
  }
}

/** Whether long writes may be split: a named pipe or socket, or a path such as /dev/stdout that refers to one. */
function isPipe(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && (stats.isFIFO() || stats.isSocket());
}
