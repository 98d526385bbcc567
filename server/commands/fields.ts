// `fields`: prints the fields of collections with types, lookups and descriptions, as text, as the filter reference
// in Markdown, or as JSON. Uses the declaration only, no data.
import { type Command, Option } from 'commander';
import { example, type Outputs } from './parts.ts';
import { OperationError } from '../../data/operationError.ts';
import {
  collectionSentence,
  type DescribedField,
  describedFields,
  type LookupGroup,
  nearestName,
} from '../../engine/described.ts';
import { type Collection, COLLECTIONS, collectionsOfPath, LOOKUPS } from '../../engine/engine.ts';
import { wrapped } from './terminal.ts';

const FIELD_FORMATS: readonly FieldFormat[] = ['table', 'json', 'ndjson', 'markdown'];

export function defineFields(command: Command, { stdout }: Outputs): void {
  command
    .argument('[collection]', 'name as in paths of the API')
    .addOption(new Option('--format <format>', 'output format').choices(FIELD_FORMATS).default('table'))
    .addHelpText('after', example('fields observations'))
    .action(async (collection: string | undefined, { format }: { readonly format: FieldFormat }) => {
      stdout.write(`${fieldsText(collection, format)}\n`);
    });
}

/** A sentence is indented by 4. */
const SENTENCE_CHARACTERS = 76;

type FieldFormat = 'table' | 'json' | 'ndjson' | 'markdown';

const GROUPS: readonly LookupGroup[] = ['any', 'order', 'text', 'date'];

/** The fields of one collection, or of all without a name. Throws OperationError `usage` for an unknown name. */
export function fieldsText(name: string | undefined, format: FieldFormat): string {
  const collections = name === undefined ? COLLECTIONS : collectionsNamed(name);
  switch (format) {
    case 'table':
      return plainText(collections);
    case 'markdown':
      return markdown(collections);
    case 'json':
      return JSON.stringify(collections.flatMap(rowsOf), null, 2);
    case 'ndjson':
      return collections
        .flatMap(rowsOf)
        .map((row) => JSON.stringify(row))
        .join('\n');
  }
}

/** The collections of a path segment. Throws OperationError `usage` for an unknown name. */
export function collectionsNamed(name: string): readonly Collection[] {
  const found = collectionsOfPath(name, 'v3');
  if (found.length > 0) return found;
  const names = COLLECTIONS.flatMap((collection) => [collection.name, collection.documentedPath]);
  const nearest = nearestName(name, names);
  const hint = nearest === undefined ? `want one of ${[...new Set(names)].join(', ')}` : `did you mean ${nearest}?`;
  throw new OperationError('usage', `there is no collection ${JSON.stringify(name)}; ${hint}`);
}

function rowsOf(collection: Collection): readonly object[] {
  return describedFields(collection).map(({ key, field, type, isNullable, lookups, sentence }) => ({
    collection: collection.name,
    field: key,
    type,
    nullable: isNullable,
    lookups: lookups.map((lookup) => lookup.name),
    ...('values' in field ? { values: field.values } : {}),
    sentence,
  }));
}

function plainText(collections: readonly Collection[]): string {
  const parts = collections.map((collection) => {
    const fields = describedFields(collection).flatMap((row) => [
      ...wrapped(`${row.key}: ${typeText(row)} (${groupsOf(row).join(', ')})`),
      ...wrapped(row.sentence, SENTENCE_CHARACTERS).map((line) => `    ${line}`),
    ]);
    return [...wrapped(`${collection.name}: ${collectionSentence(collection)}`), '', ...fields].join('\n');
  });
  const groups = GROUPS.flatMap((group) => wrapped(`${group}: ${namesOf(group).join(', ')}`));
  return `${parts.join('\n\n')}\n\nLookups\n\n${groups.join('\n')}`;
}

function typeText({ type, isNullable }: DescribedField): string {
  return isNullable ? `${type} or null` : type;
}

/** The groups of a field's lookups. A field has all lookups of a group or none. */
function groupsOf({ lookups }: DescribedField): readonly LookupGroup[] {
  return GROUPS.filter((group) => lookups.some((lookup) => lookup.group === group));
}

function namesOf(group: LookupGroup): readonly string[] {
  return LOOKUPS.filter((lookup) => lookup.group === group).map(({ name }) => name);
}

const PREAMBLE = `# Filters

\`<field>=<value>\` or \`<field>__<lookup>=<value>\`; \`!\` behind either negates. Below are the fields that the
specification and public documents show. Their types decide which lookups they take. A link or a list of links is also a
step to the fields of the records that it leads to: \`projects__title__contains=ice\`. The same paths name joined
fields: \`fields=projects__title\`. These fields have their types in every data set: a value that does not fit is served,
but no number, date or order matches it. A data set may have more fields, whose types import infers from all values:
\`/openapi.json\` and the forms at \`/browse/\` show those that are served. \`npx catalogue-replica fields\` prints this
page for a terminal or as JSON.`;

function markdown(collections: readonly Collection[]): string {
  const lookups = LOOKUPS.map(({ name, group, meaning }) => [code(name), group, `The field ${meaning}.`]);
  const parts = collections.map((collection) => {
    const rows = describedFields(collection).map((row) => {
      const values =
        row.field.kind === 'scalar' ? row.field.values?.filter((value) => value !== '').map(code) : undefined;
      const seen = values ? ` Values seen: ${values.join(', ')}.` : '';
      return [code(row.key), typeText(row), row.sentence + seen];
    });
    const table = markdownTable(['Field', 'Type', 'What it holds'], rows);
    return `## ${collection.name}\n\n${collectionSentence(collection)}\n\n${table}`;
  });
  const table = markdownTable(['Lookup', 'Group', 'Finds records of which'], lookups);
  return [PREAMBLE, `## Lookups\n\n${table}`, `## Types\n\n${typesTable()}`, ...parts].join('\n\n');
}

/** The groups of lookups that each type takes. Links take the same wherever they lead. */
function typesTable(): string {
  const typesByGroups = new Map<string, Set<string>>();
  for (const row of COLLECTIONS.flatMap((collection) => describedFields(collection))) {
    const groups = groupsOf(row).join(', ') || 'none';
    const types = typesByGroups.get(groups) ?? new Set();
    typesByGroups.set(groups, types.add(row.type.replace(/ to .*/, '')));
  }
  const rows = [...typesByGroups].map(([groups, types]) => [[...types].join(', '), groups]);
  return markdownTable(['Type, also if null', 'Groups of lookups'], rows);
}

function code(text: string): string {
  return `\`${text}\``;
}

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
