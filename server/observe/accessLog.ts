// The access log's way out: whole lines appended to one file by all serving threads, each with a buffer of its own, off
// the path of requests. When the disk is slow or full, lines are dropped and counted; no request waits.
// sonic-boom is what pino writes with; pino itself takes 45 ms of each thread's start, and 1.6 us a line for our 0.5.
import { statSync } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import library, { type SonicBoom } from 'sonic-boom';
import { type Clock, steadyMs } from './clock.ts';
import type { Report } from './events.ts';
import { assertAppendable } from './log.ts';
import { countText } from './quantities.ts';
import type { Tally } from './tally.ts';

const TAKEN = 0;
const DROPPED = 1;

const STANDARD_OUTPUT = '-';
const STANDARD_OUTPUT_FD = 1;

/** One request in `sample` is logged. `words` are shared by all threads. */
export interface AccessLogLink {
  readonly path: string;
  readonly sample: number;
  readonly lines: Tally;
  readonly words: Int32Array;
}

const Word = { reopen: 0, failed: 1, errno: 2 } as const;

/** Others may not read who asked for what. */
const FILE_MODE = 0o640;
/** Lines that wait for the disk, in bytes of each thread: 10 s of 1,000 requests a second. */
const WAITING_BYTES_MAX = 4 << 20;
/** Whole lines in one write: a file takes any number (O_APPEND), a pipe 4 kB (PIPE_BUF). */
const FILE_WRITE = { maxWrite: 65_536, minLength: 16_384 } as const;
const PIPE_WRITE = { maxWrite: 4096, minLength: 3072 } as const;
/** Lines wait at most this long for others to be written with. */
const FLUSH_MS = 250;
const CLOSE_MS = 2000;

/** Whether standard output belongs to the access log, and to nothing else. */
function takesStandardOutput(path: string | undefined): boolean {
  return path === STANDARD_OUTPUT;
}

/** How often the supervisor looks whether all goes well, and how often at most it says that it does not. */
const LOOK_MS = 1000;
const TELL_MS = 60_000;

export class AccessLogs {
  readonly #path: string;
  readonly #sample: number;
  readonly #report: Report;
  readonly #clock: Clock;
  readonly #words = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));
  readonly #tallies: Tally[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #onSignal = (): void => this.reopen();
  #told = { failed: 0, dropped: 0, ms: -Infinity };

  /** Throws OperationError `file` when the log cannot be opened now. */
  constructor(path: string, sample: number, report: Report, clock: Clock = steadyMs) {
    if (!takesStandardOutput(path)) assertAppendable('access log', path, FILE_MODE);
    this.#path = path;
    this.#sample = sample;
    this.#report = report;
    this.#clock = clock;
    this.#timer = setInterval(() => this.look(), LOOK_MS).unref();
    process.on('SIGUSR2', this.#onSignal);
  }

  link(lines: Tally): AccessLogLink {
    this.#tallies.push(lines);
    return { path: this.#path, sample: this.#sample, lines, words: this.#words };
  }

  /** All threads open the file anew within FLUSH_MS. */
  reopen(): void {
    Atomics.add(this.#words, Word.reopen, 1);
  }

  /** Says what was lost since it said so last, once a minute at most. */
  look(isLast = false): void {
    const dropped = this.#tallies.reduce((sum, tally) => sum + tally[DROPPED]!, 0);
    const failed = Atomics.load(this.#words, Word.failed);
    const nowMs = this.#clock();
    if ((dropped === this.#told.dropped && failed === this.#told.failed) || nowMs - this.#told.ms < TELL_MS) return;
    const lost = countText(dropped - this.#told.dropped);
    const errno = Atomics.load(this.#words, Word.errno);
    const why = failed === this.#told.failed || errno === 0 ? 'so fast' : `(${getSystemErrorName(errno)})`;
    this.#told = { failed, dropped, ms: nowMs };
    const kept = isLast ? '' : ', what waits is tried again';
    this.#report(`the access log ${this.#path} cannot be written ${why}: ${lost} lines dropped${kept}`, 'error');
  }

  /** No look behind it but the last one, whenever it last told. */
  stop(): void {
    clearInterval(this.#timer);
    process.off('SIGUSR2', this.#onSignal);
    this.#told.ms = -Infinity;
    this.look(true);
  }
}

/** So many flushes lie between a file that could not be opened and the next try. */
const FLUSHES_BETWEEN = 4;

/** A stream into the file, and what it was given of which it has written so much; a line has a byte a character. */
interface OpenFile {
  readonly stream: SonicBoom;
  lines: number;
  bytes: number;
  bytesWritten: number;
}

/** Lines that wait in a file's stream, by their mean length. */
function waitingLines({ lines, bytes, bytesWritten }: OpenFile): number {
  return bytes === 0 ? 0 : Math.ceil((lines * (bytes - bytesWritten)) / bytes);
}

export class AccessLog {
  /** The one that is open, and the one that is being opened, in its place or as the first. */
  #file: OpenFile | undefined;
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

  /** One line, shorter than a write, with its end. Never throws. Cost: a copy; writing is the event loop's. */
  write(line: string): void {
    const file = this.#file ?? this.#opening;
    if (!file) return this.#drop(1);
    const { lines } = this.#link;
    const dropped = lines[DROPPED];
    file.stream.write(line);
    if (lines[DROPPED] !== dropped) return;
    file.lines++;
    file.bytes += line.length;
    // What waits for the first file to open is taken once it is.
    if (file === this.#file) lines[TAKEN]! += 1;
  }

  /** Writes what waits, as far as the disk takes it within CLOSE_MS; nothing is logged behind it. */
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

  /** Opens the file; a stream of its own each time, since one that failed to open writes to no file, or to another. */
  #open(asked: number): void {
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
      this.#link.lines[TAKEN]! += file.lines;
      [this.#file, this.#opening, this.#opened] = [file, undefined, asked];
    });
    // What could not be written is kept, up to the limit, and tried again with the next lines; that of a file which
    // another one has replaced is not, since it would keep the room of a file that was removed.
    stream.on('error', ({ errno = 0 }: NodeJS.ErrnoException) => {
      Atomics.store(words, Word.errno, errno);
      Atomics.add(words, Word.failed, 1);
      if (file === this.#opening) this.#giveUp(file);
      else if (file !== this.#file) this.#abandon(file);
    });
  }

  /** Until the next try lines go to the file that is open, where one is. */
  #giveUp(file: OpenFile): void {
    this.#opening = undefined;
    this.#untilTry = FLUSHES_BETWEEN;
    this.#abandon(file);
  }

  /** What waits there is lost, though it was taken. */
  #abandon(file: OpenFile): void {
    this.#drop(waitingLines(file));
    file.lines = file.bytes = file.bytesWritten = 0;
    file.stream.destroy();
  }

  #drop(lines: number): void {
    this.#link.lines[DROPPED]! += lines;
  }

  #flush(): void {
    const asked = Atomics.load(this.#link.words, Word.reopen);
    const isDue = !this.#file || (this.#isFile && asked !== this.#opened);
    if (isDue && !this.#opening && --this.#untilTry < 0) this.#open(asked);
    this.#file?.stream.flush();
  }
}

/** Whether what is written there comes out in pieces: a named pipe, or one that a path of the system stands for. */
function isPipe(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && (found.isFIFO() || found.isSocket());
}
