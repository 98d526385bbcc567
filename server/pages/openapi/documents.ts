// The OpenAPI documents of a generation: two for each base URL that a request may select. Each exists as JSON and as
// YAML, plain and compressed, in memory that all threads share. They are built before the generation is served, so that
// no request waits. The YAML quotes all strings as JSON does, so that no library is needed.
import type { CollectionIndex, QueryOptions } from '../../../engine/engine.ts';
import { packageVersion } from '../../settings/values.ts';
import { type DocumentOptions, openApiDocument, type Spellings } from './document.ts';
import { sampleExamples, shapesOf } from './schemas.ts';
import type { DocumentPath } from '../../catalogue/routes.ts';
import { type DescriptionFile, fileOf } from './files.ts';

const PLAIN_KEY = /^[A-Za-z][A-Za-z0-9_]*$/;
/** Words that YAML 1.1, which is still in use, reads as booleans or null. */
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null)$/i;

/** An object as YAML, with a final line break. Omits what JSON omits. Cost: about that of JSON. */
export function yamlText(value: object): string {
  return `${block(value, '').slice(1)}\n`;
}

/** A value after its key or dash: on the same line if it is a scalar or empty, otherwise below. */
function block(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return ` ${JSON.stringify(value)}`;
  if (Array.isArray(value)) {
    if (value.length === 0) return ' []';
    return value.map((each) => `\n${indent}-${nested(each, `${indent}  `)}`).join('');
  }
  const members = Object.entries(value).filter(([, each]) => each !== undefined);
  if (members.length === 0) return ' {}';
  return members.map(([key, each]) => `\n${indent}${keyText(key)}:${block(each, `${indent}  `)}`).join('');
}

/** An element of a list. An object starts on the line of its dash. */
function nested(value: unknown, indent: string): string {
  const text = block(value, indent);
  return text.startsWith('\n') ? ` ${text.slice(indent.length + 1)}` : text;
}

function keyText(key: string): string {
  return PLAIN_KEY.test(key) && !RESERVED.test(key) ? key : JSON.stringify(key);
}

type Files = Readonly<Record<DocumentPath, DescriptionFile>>;

/** Keyed by base URL. */
export type Documents = ReadonlyMap<string, Readonly<Record<Spellings, Files>>>;

/** Cost: about 200 ms for each base URL, half of it on this thread. */
export async function openApiDocuments(
  collections: (name: string) => CollectionIndex,
  query: QueryOptions,
  baseUrls: readonly string[],
): Promise<Documents> {
  const shapes = shapesOf(collections);
  const documents = new Map<string, Readonly<Record<Spellings, Files>>>();
  for (const baseUrl of new Set(baseUrls)) {
    const options = { baseUrl, version: packageVersion(), query, shapes, examples: await sampleExamples(baseUrl) };
    const usual = await documentFiles({ ...options, spellings: 'usual' });
    documents.set(baseUrl, { usual, all: await documentFiles({ ...options, spellings: 'all' }) });
  }
  return documents;
}

async function documentFiles(options: DocumentOptions): Promise<Files> {
  const document = openApiDocument(options);
  return {
    '/openapi.json': await sharedFile('/openapi.json', JSON.stringify(document)),
    '/openapi.yaml': await sharedFile('/openapi.yaml', yamlText(document)),
  };
}

async function sharedFile(path: DocumentPath, text: string): Promise<DescriptionFile> {
  const file = await fileOf(path, new TextEncoder().encode(text));
  return { ...file, bytes: shared(file.bytes), gzipped: shared(file.gzipped) };
}

function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
