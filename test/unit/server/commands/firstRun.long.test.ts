// The hints of a server on a terminal, with the real program in a pseudo terminal: example requests, unless it is quiet
// or the output is not a terminal.
import { spawn } from 'node:child_process';
import { afterEach, describe, expect, test } from 'vitest';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../../support/commandProcess.ts';
import { hasProgram } from '../../../support/debian.ts';
import { sampleSnapshot } from '../../../support/sampleSnapshot.ts';
import { withinLimit } from '../../../support/waits.ts';

const CLI = fileURLToPath(new URL('../../../../server/commands/cli.ts', import.meta.url));
const CTRL_C = '\x03';
const SERVE = ['serve', '--port', '0', '--threads', '1', '--drain-grace-seconds', '0'];

/** A command in a new terminal: its output, and keys for it. */
class Terminal {
  text = '';
  readonly #child: ReturnType<typeof spawn>;
  readonly #ended: Promise<number | null>;
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor(words: readonly string[]) {
    // Without `exec` a shell of `script` (dash, if SHELL is not set) would stay, be ended by Ctrl-C too, and exit with
    // 130.
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

describe.skipIf(!hasProgram('script'))('a server on a terminal', () => {
  let terminal: Terminal | undefined;
  afterEach(() => terminal?.kill());

  test('sends example requests to itself, and ends with its addresses', async () => {
    terminal = new Terminal(SERVE);
    await terminal.shown(/try: curl [^\n]*\n/);
    terminal.press(CTRL_C);
    expect(await terminal.ended()).toBe(0);
    const { text } = terminal;
    const url = /listening on (\S+)/.exec(text)![1]!;
    const ending = `pages: ${url}/browse/\nAPI: ${url}/api/v3/\ndocs: ${url}/docs/\ntry: curl '${url}/api/v3/`;
    expect(text.replaceAll('\r', '')).toMatch(new RegExp(`asked itself for SOAP .*\n${ending}.*'\n`));
    expect(text).toMatch(/asked itself for a list: 500 records, \d+\.\d kB in \d+\.\d ms {2}\/api\/v3\//);
    expect(text.match(/asked itself/g)).toHaveLength(2);
    expect(text).not.toMatch(/status [45]|no answer/);
    expect(text).toMatch(/draining /);
  }, 60_000);

  test('sends no example request if it is quiet', async () => {
    terminal = new Terminal([...SERVE, '--quiet', '--data', await sampleSnapshot()]);
    await terminal.shown(/try: curl /);
    terminal.press(CTRL_C);
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text).not.toMatch(/asked itself/);
  }, 60_000);
});

test('sends no example request to itself without a terminal', async () => {
  const server = runCommand([...SERVE, '--data', await sampleSnapshot()]);
  await server.printed(/try: curl /);
  server.signal('SIGINT');
  expect(await server.ended).toEqual({ code: 0, signal: null });
  expect(server.out() + server.err()).not.toMatch(/asked itself/);
}, 60_000);
