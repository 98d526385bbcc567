// Names the test that runs the code blocks of each document, and the blocks that no test runs, with the reason. A block
// in neither table fails test/documents/documents.test.ts; so does a row that no longer matches a block.
import { type Block, blocksOf } from './blocks.ts';
import { projectFiles } from '../support/sources.ts';

/** A document, or the section under one of its headings, and the test that runs its blocks. */
const RUN: readonly (readonly [document: string, heading: string | undefined, test: string])[] = [
  ['README.md', undefined, 'test/documents/newcomer.long.test.ts'],
  ['server/catalogue/README.md', undefined, 'test/documents/documents.test.ts'],
  ['server/catalogue/EXPORTS.md', 'Export whole lists', 'test/documents/commands.long.test.ts'],
  ['server/catalogue/EXPORTS.md', 'Files', 'test/documents/commands.long.test.ts'],
  ['server/catalogue/EXPORTS.md', 'Query a whole collection on many machines', 'test/documents/commands.long.test.ts'],
  ['server/catalogue/EXPORTS.md', 'Read the files', 'test/documents/commands.long.test.ts'],
  ['server/authority/README.md', undefined, 'test/documents/commands.long.test.ts'],
  ['data/README.md', undefined, 'test/documents/commands.long.test.ts'],
  ['data/distribution/README.md', undefined, 'test/documents/commands.long.test.ts'],
  ['server/observe/README.md', undefined, 'test/documents/commands.long.test.ts'],
  ['ARCHITECTURE.md', 'The life of a request', 'test/documents/commands.long.test.ts'],
  ['deploy/README.md', 'A first replica', 'test/load/package.long.test.ts'],
  ['deploy/README.md', 'Install and start', 'test/deploy/systemd.long.test.ts'],
  ['deploy/README.md', 'Many machines', 'test/deploy/systemd.long.test.ts'],
  ['deploy/README.md', 'Upgrade', 'test/deploy/systemd.long.test.ts'],
  ['deploy/README.md', 'New data', 'test/documents/commands.long.test.ts'],
  ['deploy/IN_FRONT.md', undefined, 'test/deploy/inFront.long.test.ts'],
];

/** The start of each block that cannot be run by a test, and the reason. */
const NOT_RUN: readonly (readonly [document: string, begins: string, why: string])[] = [
  ['ARCHITECTURE.md', ' ', 'a drawing'],
  ['ARCHITECTURE.md', 'engine <- data', 'a drawing; test/support/tidyRules.ts has it as a table'],
  ['data/README.md', ' ', 'a drawing'],
  ['deploy/IN_FRONT.md', ' ', 'a drawing'],
  ['data/distribution/README.md', ' ', 'a drawing'],
  ['server/observe/README.md', ' ', 'a drawing'],
  [
    'server/catalogue/README.md',
    'import json\nimport requests\n\nAPI, NAME',
    'test/contract/mirror.long.test.ts runs it',
  ],
  ['engine/snapshot/FORMAT.md', '0     ', 'a drawing'],
  ['engine/snapshot/FORMAT.md', 'loaded bytes', 'formulas; test/property/snapshot.long.test.ts loads what they say'],
  ['CONTRIBUTING.md', 'npm ci\nnpm run check', 'runs this test, and all others'],
];

export function documents(): readonly string[] {
  return projectFiles().filter((path) => path.endsWith('.md'));
}

/** The blocks of a document that a test has to run, in order. */
export function blocksRunBy(test: string, document: string): readonly Block[] {
  return blocksOf(document).filter((block) => !isExcused(block) && testsOf(block).includes(test));
}

function testsOf(block: Block): readonly string[] {
  return RUN.filter((row) => isOfRow(row, block)).map(([, , test]) => test);
}

function isOfRow([document, heading]: (typeof RUN)[number], block: Block): boolean {
  return document === block.document && (heading === undefined || heading === block.heading);
}

function isExcused(block: Block): boolean {
  return NOT_RUN.some((row) => isExcuse(row, block));
}

function isExcuse([document, begins]: (typeof NOT_RUN)[number], { document: own, text }: Block): boolean {
  return document === own && text.startsWith(begins);
}

/** The blocks among these that no test runs and no row excuses. */
export function blocksLeft(blocks: readonly Block[]): readonly Block[] {
  return blocks.filter((block) => !isExcused(block) && testsOf(block).length === 0);
}

/** The rows of both tables that match none of these blocks. */
export function staleRows(blocks: readonly Block[]): readonly string[] {
  const run = RUN.filter((row) => !blocks.some((block) => isOfRow(row, block)));
  const excuses = NOT_RUN.filter((row) => !blocks.some((block) => isExcuse(row, block)));
  return [...run, ...excuses].map((row) => row.join(', '));
}

/** The tests in the table, each with the document whose blocks it must run. */
export function runners(): readonly (readonly [test: string, document: string])[] {
  return RUN.map(([document, , test]) => [test, document]);
}
