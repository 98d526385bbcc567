// The tables of the documents, made from the declarations, and the coastlines of maps: `npm run generate` writes them,
// test/tidy.test.ts compares.
import { LOOKUP_HABITS, PARAMETER_HABITS } from '../../engine/query/habits.ts';
import { DEFAULT_LOOKUP } from '../../engine/query/lookups.ts';
import { PARAMETERS } from '../../engine/query/parameters.ts';
import {
  BITMAPS,
  BLOCKS,
  BLOCKS_TITLE,
  DICTIONARY,
  GRAMS,
  METADATA,
  POSTINGS,
  RECORDS,
  type SectionGroup,
  type SectionKind,
  sectionName,
  TABLE,
  TARGETS,
  WORDS,
} from '../../engine/snapshot/sections.ts';
import { type KeyRow, KEYS } from '../../server/authority/configuration/keys.ts';
import { SETTINGS } from '../../server/settings/declarations.ts';
import { environmentName, flagName } from '../../server/settings/sources.ts';
import { SWITCH } from '../../server/settings/values.ts';
import { fieldsText } from '../../server/commands/fields.ts';
import { landSvg } from './coastlines.ts';
import { readProjectFile } from './sources.ts';

/** The table of settings in server/settings/README.md. */
export function settingsTable(): string {
  const rows = SETTINGS.map((setting) => {
    const flag = [flagName(setting), setting.kind.placeholder.replaceAll('|', '\\|')].filter(Boolean).join(' ');
    const help = setting.help + (setting.arity === 'many' ? ' (repeatable)' : '');
    const key = setting.name === 'config' ? '' : `\`${setting.name}\``;
    const texts = [setting.initialText, help].map((text) => text.replaceAll(/[|<]/g, '\\$&'));
    return [`\`${flag}\``, `\`${environmentName(setting)}\``, key, ...texts];
  });
  return tableOf(['Flag', 'Environment', 'TOML key', 'Default', 'Meaning'], rows);
}

/** Names of the views that have a parameter. */
const VIEW_WORDS = { list: 'lists', record: 'records', root: 'root views', lookup: 'look-ups' } as const;

/** The table of parameters other than filters in server/catalogue/README.md. */
function parametersTable(): string {
  const rows = PARAMETERS.map(({ name, views, value, meaning }) => [
    `\`${name}\``,
    views.map((view) => VIEW_WORDS[view]).join(', '),
    value,
    meaning,
  ]);
  return tableOf(['Parameter', 'Of', 'Value', 'Meaning'], rows);
}

/** The tables of parameters and lookups of other services in server/catalogue/README.md. */
function habitTables(): readonly string[] {
  const quoted = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');
  const parameters = PARAMETER_HABITS.map(({ names, of, form }) => [quoted(names), of, `\`${form}\``]);
  const lookups = LOOKUP_HABITS.map(({ names, of, lookup, isNegated }) => {
    const form = `<field>${lookup === DEFAULT_LOOKUP ? '' : `__${lookup}`}${isNegated ? '!' : ''}`;
    return [quoted(names), of, `\`${form}\``];
  });
  return [
    tableOf(['Elsewhere', 'Of', 'Write it as'], parameters),
    tableOf(['Lookup elsewhere', 'Of', 'Here'], lookups),
  ];
}

/** The table of an authority's configuration keys in server/authority/README.md. */
function keysTable(): string {
  const rows = Object.entries<KeyRow<unknown>>(KEYS).map(([key, { kind, arity, initialText, help }]) => [
    `\`${key}\``,
    kind === SWITCH ? 'true or false' : kind.placeholder.replaceAll(/[|<]/g, '\\$&'),
    initialText,
    help + (arity === 'many' ? ' (one, or an array)' : ''),
  ]);
  return tableOf(['Key', 'Value', 'Default', 'Meaning'], rows);
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/**
 * Groups of sections that share a chapter of FORMAT.md, in the order of the chapters. Only the sections of a column
 * share a chapter.
 */
const CHAPTERS: readonly (readonly SectionGroup[])[] = [
  [RECORDS],
  [TABLE],
  [DICTIONARY, GRAMS, WORDS, POSTINGS, BITMAPS],
  [TARGETS],
  [METADATA],
  [BLOCKS],
  [BLOCKS_TITLE],
];

/** The tables of sections in engine/snapshot/FORMAT.md, one a chapter. */
function sectionTables(): readonly string[] {
  return CHAPTERS.map((groups) => {
    const rows = groups.flatMap((group) =>
      Object.entries<SectionKind>(group.kinds).map(([key, { element, count, meaning }]) => {
        const name = `${group.path === '' ? '' : '.'}${sectionName(group, key, '')}`;
        const elements = [element === 'pieces' ? 'bytes' : element, count].filter((text) => text !== undefined);
        return [`\`${name}\``, elements.join(', '), meaning];
      }),
    );
    return tableOf(['Section', 'Element', 'Meaning'], rows);
  });
}

/** Each document with a generated part, and its new text; tables are not aligned. */
export function generatedDocuments(): readonly (readonly [path: string, text: string])[] {
  return [
    ['server/pages/browse/assets/land.svg', landSvg()],
    ['engine/query/FILTERS.md', `${fieldsText(undefined, 'markdown')}\n`],
    ['engine/snapshot/FORMAT.md', withTables('engine/snapshot/FORMAT.md', sectionTables())],
    ['server/authority/README.md', withTables('server/authority/README.md', [keysTable()])],
    ['server/catalogue/README.md', withTables('server/catalogue/README.md', [...habitTables(), parametersTable()])],
    ['server/settings/README.md', withTables('server/settings/README.md', [settingsTable()])],
  ];
}

/** A Markdown table without its alignment, so that two can be compared. */
export function unaligned(text: string): string {
  return text.replace(/^\|.*\|$/gm, (line) => line.replace(/ +/g, ' ').replace(/-{3,}/g, '---'));
}

/** A document with each table replaced by the new one with the same head, in order. Throws if a table is missing. */
function withTables(path: string, tables: readonly string[]): string {
  let rest = unaligned(readProjectFile(path));
  let done = '';
  for (const table of tables) {
    const start = rest.indexOf(`${table.split('\n', 1)[0]}\n`);
    if (start < 0) throw new Error(`${path} has no table with the head ${table.split('\n', 1)[0]}`);
    const [old] = /^(?:\|.*\|\n)+/.exec(rest.slice(start))!;
    done += `${rest.slice(0, start)}${table}\n`;
    rest = rest.slice(start + old.length);
  }
  return done + rest;
}
