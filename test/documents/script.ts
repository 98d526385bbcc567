// Runs the code blocks of a document in order, like a reader: in one shell and one folder, so that later blocks see the
// variables and files of earlier ones. Replaces addresses and paths of the document by those of the test, and restores
// them in the output. Checks only exit codes.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLICKHOUSE } from '../support/clickHouse.ts';
import { runProgram } from '../support/commandProcess.ts';
import { type Block, isPrinted, placeOfBlock } from './blocks.ts';
import { machinePath } from '../support/machine.ts';
import { ROOT } from '../support/sources.ts';

/**
 * The environment of blocks. `directory` is their working directory, `home` their HOME. `replaced` maps texts of the
 * document to their replacements. `isInstalled` means that the real npx runs the program, not this checkout. `shell` is
 * the command line of the shell: by default this machine's bash.
 */
export interface Site {
  readonly directory: string;
  readonly home: string;
  readonly replaced: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly isInstalled?: boolean;
  readonly shell?: readonly [program: string, ...words: string[]];
}

/** The output of a block on both streams, with the document's texts restored. */
export interface Outcome {
  readonly block: Block;
  readonly printed: string;
}

/** The program of each language other than the shell, and the extension of its files. */
const PROGRAMS: Readonly<Record<string, readonly [program: string, ending: string]>> = {
  python: ['python3', 'py'],
  r: ['Rscript', 'R'],
  js: ['node', 'mjs'],
  sql: [`node ${ROOT}test/documents/duckDb.ts`, 'sql'],
};

/** Commands that serve until they are stopped: each goes to the background once it listens. */
const SERVES = /^(?=npm start|npx catalogue-replica serve(?! --check))/gm;

/**
 * `served` starts a server and returns when it listens. Background jobs end with the script, which has a separate
 * process group. The first failing command of a block decides its exit code.
 */
const PROLOGUE = String.raw`
set -E -o pipefail
code=0
served=0
trap 'last=$?; [ "$code" -ne 0 ] || code=$last' ERR
trap 'trap "" TERM; kill -TERM -- -$$; wait' EXIT
served() {
  served=$((served + 1))
  local output="$OUTPUTS/served$served"
  # Now, and not when the server begins: what one of another script printed may lie there.
  : > "$output"
  "$@" > "$output" 2>&1 &
  for _ in {1..600}; do
    if grep -q 'try: ' "$output"; then cat "$output"; return; fi
    kill -0 $! 2> /dev/null || break
    sleep 0.1
  done
  cat "$output"
  return 1
}
`;

/** Lines that commands print while they take long, as they do on a busy machine. */
const PROGRESS = /^[a-z][^:\n]*: \d+ % \(.*\n/gm;

/** Runs blocks until one exits with another code than its document says, which throws with the output. */
export async function runBlocks(blocks: readonly Block[], site: Site): Promise<readonly Outcome[]> {
  const outputs = join(site.home, 'outputs');
  for (const folder of [site.directory, site.home, outputs]) mkdirSync(folder, { recursive: true });
  // Otherwise curl shows a progress meter.
  writeFileSync(join(site.home, '.curlrc'), 'silent\nshow-error\n');
  const own = programsOf(site);
  const script = [PROLOGUE, ...blocks.map((block, i) => stepOf(block, i, site))].join('\n');
  const environment = {
    PATH: `${own}:/usr/bin:${machinePath()}`,
    HOME: site.home,
    OUTPUTS: outputs,
    NO_UPDATE_NOTIFIER: '1',
    // The log format of a terminal, because readers have one.
    CATALOGUE_LOG_FORMAT: 'people',
    ...site.environment,
  };
  const [program, ...words] = site.shell ?? ['bash'];
  const bash = runProgram(program, [...words, '-c', script], { environment, directory: site.directory, isGroup: true });
  await bash.ended;
  return blocks.map((block, i) => {
    const printed = backIn(readIfThere(join(outputs, `${i}`)).replaceAll(PROGRESS, ''), site.replaced);
    const code = readIfThere(join(outputs, `${i}.code`)).trim();
    if (Number(code === '' ? NaN : code) === block.exits) return { block, printed };
    throw new Error(`${placeOfBlock(block)}: ended with ${code || 'none'}:\n${printed}${bash.out()}${bash.err()}`);
  });
}

/**
 * The errors of outcomes: output that differs from the document. Without an output block, a block must print nothing,
 * so that the document shows everything that a reader sees.
 */
export function misprintsOf(outcomes: readonly Outcome[]): readonly string[] {
  return outcomes
    .filter(({ block, printed }) => !isPrinted(block.printed, printed))
    .map(({ block, printed }) => `${placeOfBlock(block)}\nsays\n${block.printed.text}\nand prints\n${printed}`);
}

function stepOf(block: Block, i: number, { replaced }: Site): string {
  const text = Object.entries(replaced).reduce((one, [from, to]) => one.replaceAll(from, to), block.text);
  const [program, ending] = PROGRAMS[block.language] ?? [];
  const file = block.file ?? `program-${i}.${ending}`;
  const written = `cat > ${file} <<'END_OF_BLOCK'\n${text}END_OF_BLOCK\n`;
  const isFile = block.file !== undefined;
  const command = isFile ? written : program ? `${written}${program} ${file}\n` : text.replaceAll(SERVES, 'served ');
  return `code=0\n{\n${command}} > "$OUTPUTS/${i}" 2>&1\necho $code > "$OUTPUTS/${i}.code"\n[ $code -eq ${block.exits} ] || exit 1`;
}

/** A folder of programs with precedence in PATH: Node, ClickHouse, and an npx for this checkout unless installed. */
function programsOf({ home, isInstalled = false }: Site): string {
  const folder = join(home, 'programs');
  mkdirSync(folder, { recursive: true });
  const program = (name: string, line: string): void =>
    writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  if (isInstalled) return folder;
  program('node', `exec ${process.execPath} "$@"`);
  program('clickhouse', `exec ${process.execPath} ${CLICKHOUSE} "$@"`);
  program('npx', `shift\nexec ${process.execPath} ${ROOT}server/commands/cli.ts "$@"`);
  return folder;
}

function backIn(text: string, replaced: Readonly<Record<string, string>>): string {
  return Object.entries(replaced).reduce((one, [from, to]) => one.replaceAll(to, from), text);
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
