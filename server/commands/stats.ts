// `stats`: prints the collections of a snapshot or data set with their sizes, the memory by part, and the values of
// fields that have only a few.
import { type Command, Option } from 'commander';
import { addSettings, example, type Outputs } from './parts.ts';
import type { Flags } from '../settings/sources.ts';
import { openData } from '../../data/open.ts';
import { bytesByPart } from '../../data/store/load.ts';
import { type FieldMisfits, listMisfits, misfitText, openSections } from '../../engine/shared.ts';
import { type CollectionIndex, COLLECTIONS, openSnapshot, PLACEHOLDER } from '../../engine/engine.ts';
import { openingOf } from '../process/loadGeneration.ts';
import { readSettings } from '../settings/declarations.ts';
import { bytesText, countText } from '../observe/quantities.ts';
import { tableText, withProgress } from './terminal.ts';

export function defineStats(command: Command, outputs: Outputs): void {
  command
    .argument('<data>', 'snapshot file, or directory of <collection>.ndjson[.gz] files')
    .addOption(new Option('--format <format>', 'output format').choices(['table', 'json']).default('table'));
  addSettings(command, ['lenient', 'takeNulls'])
    .addHelpText('after', example('stats catalogue.snapshot'))
    .action(async (data: string, { format, ...flags }: Flags & { readonly format: StatsFormat }) => {
      await runStats({ data, format }, flags, outputs);
    });
}

type StatsFormat = 'table' | 'json';

/** A field with more values than this is not a category. */
const VALUES_MAX = 16;
/** Characters of a bar that represents all records. */
const BAR_CHARACTERS = 20;
/** Longer values are cut in the middle, because values often differ at their end. */
const TEXT_CHARACTERS_MAX = 40;
const END_CHARACTERS = 20;

interface Distribution {
  readonly field: string;
  readonly values: readonly { readonly value: string | null; readonly records: number }[];
}

interface CollectionStats {
  readonly name: string;
  readonly records: number;
  readonly recordBytes: number;
  readonly distributions: readonly Distribution[];
}

interface Statistics {
  readonly generation: string;
  readonly created: string | null;
  readonly collections: readonly CollectionStats[];
  readonly misfits: readonly FieldMisfits[];
  readonly memory: Readonly<Record<string, number>>;
}

/** Throws OperationError `file`, `input` or `snapshot`. Cost: a load, or an import for a directory. */
async function runStats(
  { data, format }: { readonly data: string; readonly format: StatsFormat },
  flags: Flags,
  { stdout, stderr }: Outputs,
): Promise<void> {
  const leftOut: string[] = [];
  const opening = openingOf(readSettings(flags), (line) => leftOut.push(line));
  // The base URL remains the placeholder that the file contains, so that records keep their size.
  const options = { baseUrl: PLACEHOLDER, ...opening, threads: 1 };
  const loaded = await withProgress(stderr, (onProgress) => openData(data, options, onProgress));
  const opened = openSnapshot(loaded);
  const statistics: Statistics = {
    generation: loaded.generation,
    created: loaded.created ?? null,
    collections: COLLECTIONS.map(({ name }) => statsOf(opened.collection(name))),
    misfits: listMisfits(loaded.sections, openSections(loaded).views),
    memory: bytesByPart(loaded),
  };
  for (const line of leftOut) stderr.write(`${line}\n`);
  stdout.write(`${format === 'json' ? JSON.stringify(statistics) : textOf(statistics)}\n`);
}

function statsOf(collection: CollectionIndex): CollectionStats {
  const { declaration, records, rows } = collection;
  const recordBytes = records.chunks.reduce((sum, { bytes }) => sum + bytes.length, 0);
  return { name: declaration.name, records: rows, recordBytes, distributions: distributionsOf(collection) };
}

/**
 * Covers fields with one value per record and only a few distinct values, which two or more records share on average.
 */
function distributionsOf({ members, rows }: CollectionIndex): readonly Distribution[] {
  return [...members.values()].flatMap((node) => {
    if (node.kind !== 'values' || node.link) return [];
    const { size, text, ends } = node.index.dictionary;
    if (size < 2 || size > VALUES_MAX || size * 2 > rows) return [];
    const decoder = new TextDecoder();
    const values = Array.from({ length: size + 1 }, (_, code) => ({
      value: code === size ? null : decoder.decode(text.slice(code === 0 ? 0 : ends[code - 1], ends[code])),
      records: node.index.countOf({ start: code, end: code + 1 }),
    }));
    return [
      { field: node.name, values: values.filter((one) => one.records > 0).sort((a, b) => b.records - a.records) },
    ];
  });
}

function textOf({ generation, created, collections, misfits, memory }: Statistics): string {
  const filled = collections.filter(({ records }) => records > 0);
  const sizes = filled.map((one) => [one.name, countText(one.records), bytesText(one.recordBytes)]);
  const sum = (of: (one: CollectionStats) => number): number => filled.reduce((total, one) => total + of(one), 0);
  const totals = ['total', countText(sum(({ records }) => records)), bytesText(sum(({ recordBytes }) => recordBytes))];
  const bytes = Object.values(memory).reduce((total, one) => total + one, 0);
  const parts = Object.entries(memory).map(([part, one]) => [part, bytesText(one), barOf(one, bytes)]);
  const distributions = filled.flatMap((collection) =>
    collection.distributions.map(({ field, values }) => {
      const rows = values.map(({ value, records }) => [
        value === null ? 'null' : shown(value),
        countText(records),
        barOf(records, collection.records),
      ]);
      return tableText([[`${collection.name}.${field}`, 'records', 'share'], ...rows]);
    }),
  );
  return [
    tableText([['collection', 'records', 'record bytes'], ...sizes, totals]),
    tableText([['part', 'bytes', 'share'], ...parts, ['total', bytesText(bytes), '']]),
    ...distributions,
    ...(misfits.length > 0 ? [misfits.map(misfitText).join('\n')] : []),
    `generation ${generation}${created === null ? '' : `, data of ${created}`}`,
  ].join('\n\n');
}

/** A value as JSON text, which makes blanks and control characters visible. */
function shown(value: string): string {
  const characters = Array.from(value);
  if (characters.length <= TEXT_CHARACTERS_MAX) return JSON.stringify(value);
  const begin = characters.slice(0, TEXT_CHARACTERS_MAX - END_CHARACTERS).join('');
  return `${JSON.stringify(begin)} ... ${JSON.stringify(characters.slice(-END_CHARACTERS).join(''))}`;
}

/** A share as a bar. Any share above 0 has at least one character. */
function barOf(part: number, whole: number): string {
  return part === 0 ? '' : '#'.repeat(Math.max(1, Math.round((part / whole) * BAR_CHARACTERS)));
}
