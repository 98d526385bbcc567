// Runs the code blocks of a document, in order, as one who follows it would: in one shell and one folder, so that what
// a block sets or writes is there for the next. Addresses and paths of the document are replaced by those of the test,
// and back in what was printed. Judges nothing but exit codes.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLICKHOUSE } from '../support/clickHouse.ts';
import { runProgram } from '../support/commandProcess.ts';
import { type Block, isPrinted, placeOfBlock } from './blocks.ts';
import { machinePath } from '../support/machine.ts';
import { ROOT } from '../support/sources.ts';

/**
 * Where blocks are run. `directory` is theirs, and `home` what HOME names; `replaced` has texts of the document with
 * what stands for them here; `isInstalled` where the program is run by the real npx, not as this checkout has it; and
 * `shell` what runs them, with its words: bash of this machine, unless another one is named.
 */
export interface Site {
  readonly directory: string;
  readonly home: string;
  readonly replaced: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly isInstalled?: boolean;
  readonly shell?: readonly [program: string, ...words: string[]];
}

/** What a block printed, on both outputs, in the words of the document. */
export interface Outcome {
  readonly block: Block;
  readonly printed: string;
}

/** The program of each language that is not the shell's, and the ending of its files. */
const PROGRAMS: Readonly<Record<string, readonly [program: string, ending: string]>> = {
  python: ['python3', 'py'],
  r: ['Rscript', 'R'],
  js: ['node', 'mjs'],
  sql: [`node ${ROOT}test/documents/duckDb.ts`, 'sql'],
};

/** Commands that serve until they are stopped: each goes to the background once it listens. */
const SERVES = /^(?=npm start|npx catalogue-replica serve(?! --check))/gm;

/**
 * `served` starts a server and returns when it listens. What runs in the background ends with the script, whose group
 * is its own. The first command of a block that fails decides its code.
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

/** Runs blocks until one ends with another code than its document says, which throws with what it printed. */
export async function runBlocks(blocks: readonly Block[], site: Site): Promise<readonly Outcome[]> {
  const outputs = join(site.home, 'outputs');
  for (const folder of [site.directory, site.home, outputs]) mkdirSync(folder, { recursive: true });
  // Else it shows how far it is.
  writeFileSync(join(site.home, '.curlrc'), 'silent\nshow-error\n');
  const own = programsOf(site);
  const script = [PROLOGUE, ...blocks.map((block, i) => stepOf(block, i, site))].join('\n');
  const environment = {
    PATH: `${own}:/usr/bin:${machinePath()}`,
    HOME: site.home,
    OUTPUTS: outputs,
    NO_UPDATE_NOTIFIER: '1',
    // As on a terminal, where readers are.
    CATALOGUE_LOG_FORMAT: 'people',
    ...site.environment,
  };
  const [program, ...words] = site.shell ?? ['bash'];
  const bash = runProgram(program, [...words, '-c', script], { environment, directory: site.directory, isGroup: true });
  await bash.ended;
  return blocks.map((block, i) => {
    const printed = backIn(readIfThere(join(outputs, `${i}`)), site.replaced);
    const code = readIfThere(join(outputs, `${i}.code`)).trim();
    if (Number(code === '' ? NaN : code) === block.exits) return { block, printed };
    throw new Error(`${placeOfBlock(block)}: ended with ${code || 'none'}:\n${printed}${bash.out()}${bash.err()}`);
  });
}

/**
 * What is wrong with outcomes: those that print something else than their document says. Where it says nothing they
 * have to print nothing, so that no block is without what a reader sees.
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

/** A folder of programs that come before all others: Node, ClickHouse, npx of this checkout where none is installed. */
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
