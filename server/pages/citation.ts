// The citation of an observation: its data, from the record and the records that it links to, and its forms as text,
// BibTeX, RIS and DataCite JSON (A176).
import { percentEncode } from '../../engine/engine.ts';
import { recordUrl } from '../../engine/resolved.ts';
import type { CatalogueSettings } from '../catalogue/catalogue.ts';
import { type Data, dataOf, isWebAddress, listOf, type RecordReader } from './browse/records.ts';

/** A person or an organisation. An organisation has a family name only. */
export interface Creator {
  readonly given: string;
  readonly family: string;
  readonly isPerson: boolean;
}

export interface Citation {
  readonly id: number;
  readonly uuid: string;
  readonly title: string;
  readonly authors: readonly Creator[];
  readonly publisher: Creator;
  /** Four digits, undefined if no date of publication is known. */
  readonly year: string | undefined;
  /** An address of the web: that of the DOI, otherwise that of the record's page. */
  readonly identifier: string;
  /** `10.5072/abc`. */
  readonly doi: string | undefined;
  readonly abstract: string;
  readonly keywords: readonly string[];
  readonly published: string | undefined;
}

/** The roles whose parties are authors, the best first. */
const AUTHORS = ['author', 'principal_investigator', 'publisher'];
const DOI = /(?:^|[/:\s])(10\.\d{4,9}\/[-._;()/:a-z0-9A-Z]+)$/;
const DATE = /^(\d{4})-\d\d-\d\d/;

/** The citation of an observation. Cost: the records of its parties and identifiers. */
export function readCitation(
  reader: RecordReader,
  { siteName, recordUrl: template }: Pick<CatalogueSettings, 'siteName' | 'recordUrl'>,
  { id, data: record }: { readonly id: number; readonly data: Data },
): Citation {
  const { baseUrl } = reader.visit;
  const parties = readParties(reader, record);
  const site: Creator = { given: '', family: siteName, isPerson: false };
  const authors = AUTHORS.map((role) => parties.filter((party) => party.role === role)).find(
    ({ length }) => length > 0,
  );
  const published = [record['doiPublishedTime'], record['dataPublishedTime']].map((time) =>
    DATE.exec(reader.text(time)),
  );
  const date = published.find((found) => found !== null);
  const uuid = reader.text(record['uuid']);
  const dois = listOf(record['identifier_set']).map((link) => readDoi(reader, reader.linked(link)));
  const doi = dois.find((found) => found !== undefined);
  const words = reader.text(record['keywords']).split(',');
  const page = recordUrl(template, baseUrl, { collection: 'observations', id, uuid });
  return {
    id,
    uuid,
    title: reader.text(record['title']) || `Observation ${id}`,
    authors: authors ? dropRepeats(authors.map(({ party }) => party)) : [site],
    publisher: parties.find(({ role }) => role === 'publisher')?.party ?? site,
    year: date?.[1],
    identifier: doi?.url ?? (page || `${baseUrl}/browse/observations/${id}/`),
    doi: doi?.name,
    abstract: reader.text(record['abstract']),
    keywords: [...new Set(words.map((word) => word.trim()))].filter(Boolean),
    published: date?.[0],
  };
}

/** A party may have a role twice. */
function dropRepeats(creators: readonly Creator[]): readonly Creator[] {
  return [...new Map(creators.map((creator) => [sortedName(creator), creator])).values()];
}

interface Role {
  readonly role: string;
  readonly priority: number;
  readonly party: Creator;
}

/** The named parties of a record by priority. */
function readParties(reader: RecordReader, record: Data): readonly Role[] {
  const roles = listOf(record['responsiblepartyinfo_set']).flatMap((link): Role[] => {
    const role = dataOf(reader.linked(link));
    const party = readCreator(reader, dataOf(reader.linked(role['party'])));
    const { priority } = role;
    return party
      ? [{ role: reader.text(role['role']), priority: typeof priority === 'number' ? priority : Infinity, party }]
      : [];
  });
  return roles.toSorted((one, other) => (one.priority < other.priority ? -1 : Number(one.priority > other.priority)));
}

function readCreator(reader: RecordReader, party: Data): Creator | undefined {
  const [given, family] = [reader.text(party['firstName']), reader.text(party['lastName'])];
  if (given === '' && family === '') return undefined;
  const isPerson = given !== '' && family !== '' && party['partyType'] !== 'organisation';
  return isPerson ? { given, family, isPerson } : { given: '', family: `${given} ${family}`.trim(), isPerson };
}

function readDoi(
  reader: RecordReader,
  identifier: Data | undefined,
): { readonly url: string; readonly name: string | undefined } | undefined {
  if (identifier?.['identifierType'] !== 'doi') return undefined;
  const text = reader.text(identifier['url']);
  const name = DOI.exec(text)?.[1];
  if (isWebAddress(text)) return { url: text, name };
  return name === undefined ? undefined : { url: `https://doi.org/${name}`, name };
}

/** `Chidi Jørgensen`. */
function fullName({ given, family }: Creator): string {
  return `${given} ${family}`.trim();
}

/** `Jørgensen, Chidi`. */
function sortedName({ given, family, isPerson }: Creator): string {
  return isPerson ? `${family}, ${given}` : family;
}

interface CitationForm {
  readonly type: string;
  /** For people. */
  readonly name: string;
  readonly write: (citation: Citation) => string;
}

/** By the end of their paths. */
export const CITATION_FORMS: Readonly<Record<string, CitationForm>> = {
  txt: { type: 'text/plain; charset=utf-8', name: 'Text', write: (citation) => `${citationText(citation)}\n` },
  bib: { type: 'application/x-bibtex; charset=utf-8', name: 'BibTeX', write: writeBibtex },
  ris: { type: 'application/x-research-info-systems; charset=utf-8', name: 'RIS', write: writeRis },
  json: { type: 'application/vnd.datacite.datacite+json', name: 'DataCite JSON', write: writeDatacite },
};

/** `Authors (2023): Title. Publisher. https://doi.org/10.5072/abc` in one line. */
export function citationText({ authors, publisher, year = 'n.d.', title, identifier }: Citation): string {
  const named = authors.map(sortedName).join('; ');
  const place = authors.length === 1 && sameName(authors[0]!, publisher) ? '' : ` ${fullName(publisher)}.`;
  return joinLines(`${named} (${year}): ${title.replace(/\.$/, '')}.${place} ${identifier}`);
}

function sameName(one: Creator, other: Creator): boolean {
  return fullName(one) === fullName(other);
}

/** Replaces line breaks and other control characters, which would end a line of RIS or a field of BibTeX. */
function joinLines(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the characters to replace
  return text.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
}

/** Characters that TeX reads as commands. BibTeX counts even escaped braces. */
const TEX: Readonly<Record<string, string>> = {
  '\\': '{\\textbackslash}',
  '{': '{\\textbraceleft}',
  '}': '{\\textbraceright}',
  '~': '{\\textasciitilde}',
  '^': '{\\textasciicircum}',
  '#': '\\#',
  $: '\\$',
  '%': '\\%',
  '&': '\\&',
  _: '\\_',
};

function escapeTex(text: string): string {
  return joinLines(text).replace(/[\\{}~^#$%&_]/g, (character) => TEX[character]!);
}

/**
 * A name whose braces keep it from being split at a comma, or at the word `and`, also by parsers that see no braces.
 */
function texName({ given, family, isPerson }: Creator): string {
  const part = (name: string): string => {
    const tex = escapeTex(name).replace(/\band\b/gi, '{$&}');
    return !isPerson || name.includes(',') ? `{${tex}}` : tex;
  };
  return isPerson ? `${part(family)}, ${part(given)}` : part(family);
}

function texAddress(url: string): string {
  return url.replace(/[\s{}\\"<>^`|~]|[^\0-\x7f]/gu, percentEncode);
}

/** An entry `@misc`, which every style knows. Double braces keep the case of a title. */
function writeBibtex({ id, authors, title, publisher, year, doi, identifier, keywords }: Citation): string {
  const fields: readonly (readonly [name: string, value: string | undefined])[] = [
    ['author', authors.map(texName).join(' and ')],
    ['title', `{${escapeTex(title)}}`],
    ['publisher', escapeTex(fullName(publisher))],
    ['year', year],
    ['doi', doi],
    ['url', texAddress(identifier)],
    ['keywords', keywords.map(escapeTex).join(', ')],
    ['note', 'Dataset'],
  ];
  const lines = fields.flatMap(([name, value]) => (value ? [`  ${name} = {${value}}`] : []));
  return `@misc{observation_${id},\n${lines.join(',\n')}\n}\n`;
}

function writeRis(citation: Citation): string {
  const { authors, title, publisher, year, published, doi, identifier, keywords, abstract } = citation;
  const lines: readonly (readonly [tag: string, value: string | undefined])[] = [
    ['TY', 'DATA'],
    ...authors.map((author) => ['AU', sortedName(author)] as const),
    ['TI', title],
    ['PB', fullName(publisher)],
    ['PY', year],
    ['DA', published?.replaceAll('-', '/')],
    ['DO', doi],
    ['UR', identifier],
    ...keywords.map((word) => ['KW', word] as const),
    ['AB', abstract],
  ];
  const written = lines.flatMap(([tag, value]) => (value ? [`${tag}  - ${joinLines(value)}\r\n`] : []));
  return `${written.join('')}ER  - \r\n`;
}

/** DataCite metadata of version 4.5 as JSON. Members whose value is undefined are not written. */
function writeDatacite(citation: Citation): string {
  const { uuid, authors, title, publisher, year, published, doi, identifier, keywords, abstract } = citation;
  const metadata = {
    doi,
    types: { resourceType: 'Dataset', resourceTypeGeneral: 'Dataset' },
    creators: authors.map(({ isPerson, given, family }) =>
      isPerson
        ? { name: `${family}, ${given}`, nameType: 'Personal', givenName: given, familyName: family }
        : { name: family, nameType: 'Organizational' },
    ),
    titles: [{ title }],
    publisher: { name: fullName(publisher) },
    publicationYear: year,
    subjects: keywords.map((subject) => ({ subject })),
    dates: published === undefined ? [] : [{ date: published, dateType: 'Issued' }],
    alternateIdentifiers: [
      ...(doi === undefined ? [{ alternateIdentifier: identifier, alternateIdentifierType: 'URL' }] : []),
      ...(uuid === '' ? [] : [{ alternateIdentifier: uuid, alternateIdentifierType: 'UUID' }]),
    ],
    descriptions: abstract === '' ? [] : [{ description: abstract, descriptionType: 'Abstract' }],
    schemaVersion: 'http://datacite.org/schema/kernel-4',
  };
  return `${JSON.stringify(metadata, undefined, 2)}\n`;
}
