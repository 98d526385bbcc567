// What a server shows on a terminal, with the real program in a pseudo terminal: requests to itself, and totals on
// Ctrl-C; none of it where it is quiet or where nobody watches.
import { spawn } from 'node:child_process';
import { afterEach, describe, expect, test } from 'vitest';
import { fileURLToPath } from 'node:url';
import { newTally } from '../../../../server/observe/tally.ts';
import { answerTotals, countAnswer, requestTallies } from '../../../../server/process/requestTallies.ts';
import { ROUTE } from '../../../../server/http/exchange.ts';
import { runCommand } from '../../../support/commandProcess.ts';
import { hasProgram } from '../../../support/debian.ts';
import { sampleSnapshot } from '../../../support/sampleSnapshot.ts';
import { withinLimit } from '../../../support/waits.ts';

const CLI = fileURLToPath(new URL('../../../../server/commands/cli.ts', import.meta.url));
const CTRL_C = '\x03';
const SERVE = ['serve', '--port', '0', '--threads', '1', '--drain-grace-seconds', '0'];

/** A command in a terminal of its own: what it wrote, and keys for it. */
class Terminal {
  text = '';
  readonly #child: ReturnType<typeof spawn>;
  readonly #ended: Promise<number | null>;
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor(words: readonly string[]) {
    // `exec`: dash, the shell of a `script` without SHELL, would stay, be ended by Ctrl-C too, and tell 130.
    const command = `exec ${[process.execPath, CLI, ...words].map((word) => `'${word}'`).join(' ')}`;
    this.#child = spawn('script', ['-qefc', command, '/dev/null'], { stdio: ['pipe', 'pipe', 'ignore'] });
    this.#child.stdout!.on('data', (piece: Buffer) => {
      this.text += piece.toString();
      this.#wake();
    });
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.once('close', () => {
      this.#isOver = true;
      this.#wake();
    });
  }

  async shown(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.text)) {
      if (this.#isOver) throw new Error(`ended without ${pattern}:\n${this.text}`);
      const more = new Promise<void>((resolve) => (this.#wake = resolve));
      await withinLimit(more, () => `no ${pattern} in\n${this.text}`);
    }
  }

  press(key: string): void {
    this.#child.stdin!.write(key);
  }

  async ended(): Promise<number | null> {
    return this.#ended;
  }

  kill(): void {
    this.#child.kill('SIGHUP');
  }
}

describe.skipIf(!hasProgram('script'))('on a terminal', () => {
  let terminal: Terminal | undefined;
  afterEach(() => terminal?.kill());

  test('a server shows its pages, asks itself, and tells totals on Ctrl-C', async () => {
    terminal = new Terminal(SERVE);
    await terminal.shown(/SOAP getTrustedHostInfo: .* in /);
    terminal.press(CTRL_C);
    expect(await terminal.ended()).toBe(0);
    const { text } = terminal;
    expect(text).toMatch(/browse http:\/\/127\.0\.0\.1:\d+\/browse\/\r?\nlistening on /);
    expect(text).toMatch(/try: curl '/);
    expect(text).toMatch(/asked itself for a list: 500 records, \d+\.\d kB in \d+\.\d ms {2}\/api\/v3\//);
    expect(text.match(/asked itself/g)).toHaveLength(2);
    expect(text).not.toMatch(/status [45]|no answer/);
    expect(text).toMatch(
      /draining .*\r?\nanswered 2 requests: \S+ kB, p50 within [\d.]+ ms, p99 within [\d.]+ ms\r?\n/,
    );
  }, 60_000);

  test('a quiet one does not', async () => {
    terminal = new Terminal([...SERVE, '--quiet', '--data', await sampleSnapshot()]);
    await terminal.shown(/try: curl /);
    terminal.press(CTRL_C);
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text).not.toMatch(/asked itself|answered|browse/);
  }, 60_000);
});

test('where nobody watches, a server asks nothing of itself and tells no totals', async () => {
  const server = runCommand([...SERVE, '--data', await sampleSnapshot()]);
  await server.printed(/try: curl /);
  server.signal('SIGINT');
  expect(await server.ended).toEqual({ code: 0, signal: null });
  expect(server.out() + server.err()).not.toMatch(/asked itself|answered|browse/);
}, 60_000);

test('totals are those of all threads, without health probes; quantiles are ends of buckets', () => {
  const threads = [requestTallies(newTally), requestTallies(newTally)];
  const answer = { method: 0, status: 200, bytes: 10, isGzip: false };
  for (let i = 0; i < 98; i++) countAnswer(threads[i % 2]!, ROUTE.list, { ...answer, seconds: 0.0009 });
  for (let i = 0; i < 2; i++) countAnswer(threads[1]!, ROUTE.record, { ...answer, seconds: 0.2 });
  for (let i = 0; i < 900; i++) countAnswer(threads[0]!, ROUTE.health, { ...answer, seconds: 20 });
  expect(answerTotals(threads)).toEqual({ answers: 100, abandoned: 0, bytes: 1000, p50: 0.001, p99: 0.25 });
  for (let i = 0; i < 900; i++) countAnswer(threads[0]!, ROUTE.list, { ...answer, seconds: 20 });
  expect(answerTotals(threads)).toMatchObject({ answers: 1000, p50: Infinity });
});
